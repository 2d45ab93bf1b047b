import { confirm } from '../components/confirm.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { count, fill, strings } from '../languages/index.ts';

/** Days that a person most likely chooses. */
const SUGGESTED_DAYS = 365;

/** For how long conversations are kept. @param withoutDays the label of null */
export function RetentionField({
	withoutDays,
	days,
	error,
	onChange,
}: {
	withoutDays: string;
	days: number | null;
	error: string | null | undefined;
	onChange: (days: number | null) => void;
}) {
	const t = strings().accessPages;
	return (
		<>
			<SelectField
				label={t.retention}
				hint={days === null ? undefined : t.retentionHint}
				value={days === null ? 'null' : 'days'}
				options={[
					{ value: 'null', label: withoutDays },
					{ value: 'days', label: t.retentionDays },
				]}
				onChange={(value) => onChange(value === 'null' ? null : SUGGESTED_DAYS)}
			/>
			{days !== null && (
				<TextField
					label={t.days}
					inputMode="numeric"
					maxLength={5}
					value={days === 0 ? '' : String(days)}
					error={error}
					onChange={(text) => onChange(Number(text.replace(/\D/g, '')))}
				/>
			)}
		</>
	);
}

/** A retention erases conversations at once, so it is asked about. */
export async function confirmRetention(days: number): Promise<boolean> {
	const t = strings().accessPages;
	const title = fill(t.retentionTitle, { days: count(t.forDays, days) });
	return confirm({ title, text: t.retentionText, action: t.retentionAction });
}
