import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { Field, SelectField, TextArea, TextField } from '../../components/field.tsx';
import { NameValueEditor } from '../../components/rows-editor.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { fill, strings } from '../../languages/index.ts';
import { AuthFields } from './auth-fields.tsx';
import { EMPTY_PARAMETER, jsonProblem, missingParameters, parseRows, schemaText } from './parameter-rows.ts';
import { ParametersField } from './parameters-field.tsx';
import type { ToolType } from './queries.ts';
import type { Method, ToolFields } from './tool-fields.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value, label: value }));

interface FieldsProps {
	draft: Draft<ToolFields>;
	/** The stored values. */
	stored: ToolFields;
	rejected: ApiError | null;
}

/** The form of a tool. */
export function Fields({ type, ...props }: FieldsProps & { type: ToolType }) {
	const t = strings().toolPages;
	const {
		draft: { values, change },
		rejected,
	} = props;
	return (
		<>
			<TextField
				label={t.name}
				hint={t.nameHint}
				maxLength={64}
				required
				placeholder={type === 'api' ? 'order_status' : 'warehouse'}
				value={values.name}
				error={rejected?.messageFor('/name')}
				onChange={(name) => change({ name })}
			/>
			<TextArea
				label={t.description}
				hint={t.descriptionHint}
				rows={2}
				maxLength={4000}
				value={values.description ?? ''}
				error={rejected?.messageFor('/description')}
				onChange={(description) => change({ description: description === '' ? null : description })}
			/>
			{type === 'api' ? <ApiFields {...props} /> : <McpFields {...props} />}
		</>
	);
}

function ApiFields({ draft, stored, rejected }: FieldsProps) {
	const t = strings().toolPages;
	const { values, change } = draft;
	const errorOf = (name: string) => rejected?.messageFor(`/config/${name}`) ?? null;
	return (
		<>
			<div class="field-row">
				<div class="method">
					<SelectField
						label={t.method}
						value={values.method}
						options={METHODS}
						error={errorOf('method')}
						onChange={(method) => change({ method: method as Method })}
					/>
				</div>
				<TextField
					label={t.url}
					hint={t.urlHint}
					type="url"
					maxLength={4000}
					required
					value={values.url}
					error={errorOf('url')}
					onChange={(url) => change({ url })}
				/>
			</div>
			<MissingParameters draft={draft} />
			<ParametersField
				value={values.parameters}
				error={jsonError(values.parameters) ?? errorOf('parameters')}
				onChange={(parameters) => change({ parameters })}
			/>
			<Rows label={t.query} error={errorOf('query')} rows={values.query} onChange={(query) => change({ query })} />
			<HeaderRows draft={draft} error={errorOf('headers')} />
			{values.method !== 'GET' && (
				<TextArea
					label={t.body}
					hint={t.bodyHint}
					rows={6}
					isCode
					placeholder={'{"order": "{order}"}'}
					value={values.body}
					error={bodyError(values.body) ?? errorOf('body')}
					onChange={(body) => change({ body })}
				/>
			)}
			<AuthFields
				auth={values.auth}
				stored={stored.auth}
				error={errorOf('auth')}
				onChange={(auth) => change({ auth })}
			/>
			<TimeoutField draft={draft} error={errorOf('timeout_ms')} />
		</>
	);
}

function McpFields({ draft, rejected }: FieldsProps) {
	const t = strings().toolPages;
	const { values, change } = draft;
	const errorOf = (name: string) => rejected?.messageFor(`/config/${name}`) ?? null;
	return (
		<>
			<TextField
				label={t.url}
				hint={t.mcpUrlHint}
				type="url"
				maxLength={4000}
				required
				placeholder="https://tools.example.com/mcp"
				value={values.url}
				error={errorOf('url')}
				onChange={(url) => change({ url })}
			/>
			<HeaderRows draft={draft} error={errorOf('headers')} />
			<TimeoutField draft={draft} error={errorOf('timeout_ms')} />
		</>
	);
}

/** Offers to add the parameters that the URL names. */
function MissingParameters({ draft: { values, change } }: { draft: Draft<ToolFields> }) {
	const t = strings().toolPages;
	const names = missingParameters(values.url, values.parameters);
	const rows = parseRows(values.parameters);
	if (names.length === 0 || rows === null) return null;
	const added = names.map((name) => ({ ...EMPTY_PARAMETER, name }));
	return (
		<p class="notice with-action">
			<span>{fill(t.missingParameters, { names: names.join(', ') })}</span>
			<Button onClick={() => change({ parameters: schemaText([...rows, ...added]) })}>{t.addMissing}</Button>
		</p>
	);
}

function HeaderRows({ draft: { values, change }, error }: { draft: Draft<ToolFields>; error: string | null }) {
	const t = strings().toolPages;
	return (
		<>
			<Rows label={t.headers} error={error} rows={values.headers} onChange={(headers) => change({ headers })} />
			{values.headers.length > 0 && <p class="hint below-rows">{t.secretHeaders}</p>}
		</>
	);
}

function Rows({ error, ...editor }: Parameters<typeof NameValueEditor>[0] & { error: string | null }) {
	return (
		<>
			<NameValueEditor {...editor} />
			{error && <p class="field-error below-rows">{error}</p>}
		</>
	);
}

function TimeoutField({ draft: { values, change }, error }: { draft: Draft<ToolFields>; error: string | null }) {
	const t = strings().toolPages;
	return (
		<div class="short-field">
			<Field label={t.timeout} error={error}>
				{(ids) => (
					<input
						{...ids}
						type="number"
						min={0.1}
						max={30}
						step={0.1}
						value={values.timeout_ms / 1_000}
						onChange={(event) =>
							change({ timeout_ms: Math.round(event.currentTarget.valueAsNumber * 1_000) || 10_000 })
						}
					/>
				)}
			</Field>
		</div>
	);
}

/** Whether the texts of the form are JSON, so that it can be saved. */
export function isComplete(values: ToolFields, type: ToolType): boolean {
	if (values.name.trim() === '' || values.url.trim() === '') return false;
	if (type === 'mcp') return true;
	return jsonError(values.parameters) === null && (values.method === 'GET' || bodyError(values.body) === null);
}

function jsonError(text: string): string | null {
	const t = strings().toolPages;
	const problem = jsonProblem(text);
	if (problem === null) return null;
	return problem === 'not-an-object' ? t.notAnObject : fill(t.invalidJson, { reason: problem.message });
}

/** A body may be any JSON. */
function bodyError(text: string): string | null {
	if (text.trim() === '') return null;
	const problem = jsonProblem(text);
	return problem instanceof SyntaxError ? fill(strings().toolPages.invalidJson, { reason: problem.message }) : null;
}
