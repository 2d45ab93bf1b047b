import { useId } from 'preact/hooks';
import { Checkbox } from '../../components/field.tsx';
import { strings } from '../../languages/index.ts';
import type { Assistant } from './queries.ts';

type Redaction = Assistant['redaction'];

/** In this order, so that a kind that is chosen again is no change. */
const KINDS = ['email', 'phone', 'card'] as const;

/** The values of messages that providers get placeholders for. */
export function RedactionField({ value, onChange }: { value: Redaction; onChange: (value: Redaction) => void }) {
	const t = strings().assistantPages;
	const id = useId();
	const labels = { email: t.redactEmail, phone: t.redactPhone, card: t.redactCard };
	return (
		<fieldset class="field" aria-describedby={id}>
			<legend>{t.redaction}</legend>
			{KINDS.map((kind) => (
				<Checkbox
					key={kind}
					label={labels[kind]}
					checked={value.includes(kind)}
					onChange={(checked) => onChange(KINDS.filter((each) => (each === kind ? checked : value.includes(each))))}
				/>
			))}
			<p class="hint" id={id}>
				{t.redactionHint}
			</p>
		</fieldset>
	);
}
