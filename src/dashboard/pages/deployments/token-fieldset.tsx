import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Checkbox, SelectField, TextArea, TextField } from '../../components/field.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import type { TokenFields } from './token-fields.ts';

interface FormProps {
	draft: Draft<TokenFields>;
	rejected: ApiError | null;
}

/** The controls for visitors' tokens. @param hasSecret whether a secret is stored */
export function TokenFieldset({ draft, rejected, hasSecret }: FormProps & { hasSecret: boolean }) {
	const t = strings().deploymentPages;
	const { values, change } = draft;
	const { algorithm } = values;
	const options = [
		{ value: '', label: t.algorithmNone },
		{ value: 'HS256', label: t.algorithmShared },
		{ value: 'RS256', label: t.algorithmRsa },
		{ value: 'ES256', label: t.algorithmEc },
	];
	return (
		<>
			<p class="soft intro">{t.tokensIntro}</p>
			<SelectField
				label={t.algorithm}
				value={algorithm}
				options={options}
				error={rejected?.messageFor('/jwt/algorithm') ?? rejected?.messageFor('/jwt')}
				onChange={(chosen) => change({ algorithm: chosen as TokenFields['algorithm'] })}
			/>
			{algorithm === 'HS256' && <SharedKey {...{ draft, rejected, hasSecret }} />}
			{(algorithm === 'RS256' || algorithm === 'ES256') && <PublicKey {...{ draft, rejected }} />}
			{algorithm !== '' && (
				<>
					<div class="field-grid">
						<TextField
							label={t.audience}
							hint={t.audienceHint}
							maxLength={500}
							value={values.audience}
							error={rejected?.messageFor('/jwt/audience')}
							onChange={(audience) => change({ audience })}
						/>
						<TextField
							label={t.issuer}
							hint={t.issuerHint}
							maxLength={500}
							value={values.issuer}
							error={rejected?.messageFor('/jwt/issuer')}
							onChange={(issuer) => change({ issuer })}
						/>
					</div>
					<Checkbox
						label={t.tokenRequired}
						hint={t.tokenRequiredHint}
						checked={values.jwt_required}
						onChange={(jwt_required) => change({ jwt_required })}
					/>
				</>
			)}
		</>
	);
}

function SharedKey({ draft: { values, change }, rejected, hasSecret }: FormProps & { hasSecret: boolean }) {
	const t = strings().deploymentPages;
	return (
		<>
			<TextField
				label={t.secret}
				hint={hasSecret ? t.secretStored : t.secretHint}
				type="password"
				autocomplete="off"
				maxLength={10_000}
				value={values.secret}
				error={rejected?.messageFor('/jwt/secret')}
				onChange={(secret) => change({ secret })}
			/>
			<div class="actions field">
				<Button onClick={() => change({ secret: newSecret() })}>{t.newSecret}</Button>
			</div>
			{values.secret !== '' && (
				<div class="field">
					<p class="hint">{t.secretOnce}</p>
					<CodeBlock text={values.secret} label={t.secret} />
				</div>
			)}
		</>
	);
}

/** 256 random bits as text: as many as HS256 needs. */
function newSecret(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(32));
	return btoa(String.fromCharCode(...bytes)).replace(/=+$/, '');
}

function PublicKey({ draft: { values, change }, rejected }: FormProps) {
	const t = strings().deploymentPages;
	return (
		<>
			<SelectField
				label={t.keySource}
				value={values.keySource}
				options={[
					{ value: 'public_key', label: t.publicKey },
					{ value: 'jwks_url', label: t.keySet },
				]}
				onChange={(keySource) => change({ keySource: keySource as TokenFields['keySource'] })}
			/>
			{values.keySource === 'public_key' ? (
				<TextArea
					label={t.publicKey}
					hint={t.publicKeyHint}
					rows={6}
					maxLength={20_000}
					placeholder="-----BEGIN PUBLIC KEY-----"
					value={values.public_key}
					error={rejected?.messageFor('/jwt/public_key')}
					onChange={(public_key) => change({ public_key })}
				/>
			) : (
				<TextField
					label={t.keySet}
					hint={t.keySetHint}
					maxLength={2000}
					placeholder="https://shop.example/.well-known/jwks.json"
					value={values.jwks_url}
					error={rejected?.messageFor('/jwt/jwks_url') ?? rejected?.messageFor('/jwt/public_key')}
					onChange={(jwks_url) => change({ jwks_url })}
				/>
			)}
		</>
	);
}
