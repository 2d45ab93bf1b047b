import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { may } from '../../app/session.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { CreateForm } from '../../forms/create-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { count, strings } from '../../languages/index.ts';
import { type Scope, ScopeFields } from './scopes.tsx';

/** Days for which a key may be valid; 0: until it is revoked. */
const LIFETIMES = [0, 30, 90, 365];
const DAY_MS = 24 * 3_600_000;

/** The form that makes a key. */
export function NewKeyForm({
	onCreated,
	onCancel,
}: {
	onCreated: (made: { name: string; key: string }) => void;
	onCancel: () => void;
}) {
	const t = strings().accessPages;
	const [name, setName] = useState('');
	const [days, setDays] = useState(0);
	const [scopes, setScopes] = useState<Scope[]>(may('*') ? ['*'] : []);
	const [isIncomplete, setIncomplete] = useState(false);
	const create = useAction(async () => {
		setIncomplete(scopes.length === 0);
		if (scopes.length === 0) return;
		const expires_at = days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString();
		const body = { ...(name.trim() === '' ? {} : { name: name.trim() }), scopes, expires_at };
		onCreated(await resultOf(api.POST('/api/v1/api-keys', { body })));
	}, ['/name', '/scopes', '/expires_at']);
	return (
		<CreateForm isBusy={create.isBusy} cancel={onCancel} onCreate={() => void create.run()}>
			<h2>{t.newKey}</h2>
			<TextField
				label={t.keyName}
				placeholder={t.keyNamePlaceholder}
				maxLength={200}
				value={name}
				error={create.rejected?.messageFor('/name')}
				onChange={setName}
			/>
			<SelectField
				label={t.keyExpires}
				value={String(days)}
				options={LIFETIMES.map((each) => ({
					value: String(each),
					label: each === 0 ? t.forEver : count(t.forDays, each),
				}))}
				error={create.rejected?.messageFor('/expires_at')}
				onChange={(value) => setDays(Number(value))}
			/>
			<ScopeFields scopes={scopes} onChange={setScopes} />
			{isIncomplete && (
				<p class="field-error" role="alert">
					{t.scopesMissing}
				</p>
			)}
		</CreateForm>
	);
}
