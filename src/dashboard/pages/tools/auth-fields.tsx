import { SelectField, TextField } from '../../components/field.tsx';
import { strings } from '../../languages/index.ts';
import { HIDDEN_SECRET, type ToolAuth } from './tool-fields.ts';

const EMPTY_AUTH: { [T in ToolAuth['type']]: Extract<ToolAuth, { type: T }> } = {
	none: { type: 'none' },
	bearer: { type: 'bearer', token: '' },
	basic: { type: 'basic', username: '', password: '' },
	header: { type: 'header', name: '', value: '' },
};

/** How calls authenticate. Secrets are written and never read. */
export function AuthFields({
	auth,
	stored,
	error,
	onChange,
}: {
	auth: ToolAuth;
	/** The stored one, whose secrets are hidden. */
	stored: ToolAuth;
	error: string | null;
	onChange: (auth: ToolAuth) => void;
}) {
	const t = strings().toolPages;
	const options = [
		{ value: 'none', label: t.authNone },
		{ value: 'bearer', label: t.authBearer },
		{ value: 'basic', label: t.authBasic },
		{ value: 'header', label: t.authHeader },
	];
	const isStored = stored.type === auth.type;
	return (
		<>
			<SelectField
				label={t.auth}
				value={auth.type}
				options={options}
				error={error}
				onChange={(type) => onChange(type === stored.type ? stored : EMPTY_AUTH[type as ToolAuth['type']])}
			/>
			{auth.type === 'bearer' && (
				<SecretField
					label={t.token}
					value={auth.token}
					isStored={isStored}
					onChange={(token) => onChange({ ...auth, token })}
				/>
			)}
			{auth.type === 'basic' && (
				<>
					<TextField
						label={t.username}
						value={auth.username}
						onChange={(username) => onChange({ ...auth, username })}
					/>
					<SecretField
						label={t.password}
						value={auth.password}
						isStored={isStored}
						onChange={(password) => onChange({ ...auth, password })}
					/>
				</>
			)}
			{auth.type === 'header' && (
				<>
					<TextField
						label={t.headerName}
						placeholder="X-Api-Key"
						value={auth.name}
						onChange={(name) => onChange({ ...auth, name })}
					/>
					<SecretField
						label={t.headerValue}
						value={auth.value}
						isStored={isStored}
						onChange={(value) => onChange({ ...auth, value })}
					/>
				</>
			)}
		</>
	);
}

/** A secret. A stored one is not shown; an empty field leaves it as it is. */
function SecretField({
	label,
	value,
	isStored,
	onChange,
}: {
	label: string;
	value: string;
	isStored: boolean;
	onChange: (value: string) => void;
}) {
	const t = strings().toolPages;
	return (
		<TextField
			label={label}
			type="password"
			autocomplete="new-password"
			maxLength={4096}
			{...(isStored && { hint: t.secretStored, placeholder: '••••••••' })}
			value={value === HIDDEN_SECRET ? '' : value}
			onChange={(typed) => onChange(typed === '' && isStored ? HIDDEN_SECRET : typed)}
		/>
	);
}
