import { useState } from 'preact/hooks';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { useQuery } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock, jsonText } from '../../components/code-block.tsx';
import { SelectField } from '../../components/field.tsx';
import { sentenceOf } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Status } from '../../components/status.tsx';
import { useAction } from '../../forms/use-action.ts';
import { errorText } from '../../languages/error-text.ts';
import { fill, strings } from '../../languages/index.ts';
import { ArgumentsForm } from './arguments-form.tsx';
import { jsonProblem } from './parameter-rows.ts';
import { type Tool, type ToolFunction, toolFunctions } from './queries.ts';

type Outcome = Resource<'ToolTestResult'>;

/** Calls the saved version of a tool. @param isSaved whether the form shows that version */
export function TryOut({ tool, isSaved }: { tool: Tool; isSaved: boolean }) {
	const t = strings().toolPages;
	const query = useQuery(toolFunctions(tool.id));
	/** The form has the error with a button that tries again. */
	const isListedInForm = tool.type === 'mcp' && query.data === undefined && query.error !== null;
	return (
		<section class="card" aria-label={t.tryTitle}>
			<h2>{t.tryTitle}</h2>
			<p class="soft intro">{t.tryText}</p>
			{!isSaved && <p class="notice intro">{t.tryUnsaved}</p>}
			{isListedInForm ? (
				<p class="soft">{sentenceOf(query.error as Error)}</p>
			) : (
				<QueryContent query={query}>
					{(functions) =>
						functions.length === 0 ? <p class="soft">{t.noFunctions}</p> : <Trial tool={tool} functions={functions} />
					}
				</QueryContent>
			)}
		</section>
	);
}

function Trial({ tool, functions }: { tool: Tool; functions: readonly ToolFunction[] }) {
	const t = strings().toolPages;
	const [chosen, setChosen] = useState(functions[0]?.name ?? '');
	const [values, setValues] = useState('{}');
	const [outcome, setOutcome] = useState<Outcome | null>(null);
	const called = functions.find(({ name }) => name === chosen);
	const call = useAction(async () => {
		setOutcome(null);
		const body = { arguments: JSON.parse(values), ...(tool.type === 'mcp' && { function: chosen }) };
		setOutcome(await resultOf(api.POST('/api/v1/tools/{id}/test', { params: { path: { id: tool.id } }, body })));
	});
	return (
		<>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void call.run();
				}}
			>
				{tool.type === 'mcp' && (
					<SelectField
						label={t.tryFunction}
						hint={called?.description ?? undefined}
						value={chosen}
						options={functions.map(({ name }) => ({ value: name, label: name }))}
						onChange={(name) => {
							setChosen(name);
							setValues('{}');
							setOutcome(null);
						}}
					/>
				)}
				<ArgumentsForm key={chosen} schema={called?.parameters ?? {}} value={values} onChange={setValues} />
				<div class="actions">
					<Button look="primary" type="submit" isBusy={call.isBusy} disabled={jsonProblem(values) !== null}>
						{t.tryCall}
					</Button>
				</div>
			</form>
			<div role="status">{outcome && <OutcomeView outcome={outcome} />}</div>
		</>
	);
}

function OutcomeView({
	outcome: { result, is_error, error, status_code, duration_ms, request },
}: {
	outcome: Outcome;
}) {
	const t = strings().toolPages;
	return (
		<div class="outcome">
			<p class="attempt">
				<Status tone={is_error ? 'red' : 'green'}>{is_error ? t.failed : t.succeeded}</Status>
				<span class="soft">
					{status_code !== null && `${fill(t.statusCode, { code: String(status_code) })} · `}
					{fill(t.duration, { ms: duration_ms })}
				</span>
			</p>
			{error && <p class="field-error">{errorText(strings().errors, error)}</p>}
			{request && (
				<>
					<h3>{t.sentRequest}</h3>
					<CodeBlock label={t.sentRequest} text={`${request.method} ${request.url}`} />
					<details>
						<summary>{t.sentHeaders}</summary>
						<CodeBlock label={t.sentHeaders} text={messageText(request)} />
					</details>
				</>
			)}
			{!(is_error && result === error?.message) && (
				<>
					<h3>{t.result}</h3>
					<CodeBlock label={t.result} text={readable(result)} />
				</>
			)}
		</div>
	);
}

/** Headers and body, as a request has them. */
function messageText({ headers, body }: NonNullable<Outcome['request']>): string {
	const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
	return [...lines, ...(body === null ? [] : ['', readable(body)])].join('\n');
}

/** JSON with its lines; another text as it is. */
function readable(text: string): string {
	try {
		return jsonText(JSON.parse(text));
	} catch {
		return text;
	}
}
