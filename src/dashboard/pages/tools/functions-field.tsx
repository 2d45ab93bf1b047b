import { useQuery } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Checkbox } from '../../components/field.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { strings } from '../../languages/index.ts';
import { type ToolFunction, toolFunctions } from './queries.ts';

/** The functions of an MCP server, and which of them assistants get. */
export function FunctionsField({
	id,
	allowed,
	onChange,
}: {
	id: string;
	/** null: all. */
	allowed: readonly string[] | null;
	onChange: (allowed: string[] | null) => void;
}) {
	const t = strings().toolPages;
	const query = useQuery(toolFunctions(id));
	return (
		<fieldset class="functions">
			<legend>{t.functions}</legend>
			<p class="hint">{t.functionsText}</p>
			<QueryContent query={query}>
				{(functions) => <Choices functions={functions} allowed={allowed} onChange={onChange} />}
			</QueryContent>
			{query.data && (
				<Button look="quiet" icon="retry" isBusy={query.isFetching} onClick={() => void query.refetch()}>
					{t.listAgain}
				</Button>
			)}
		</fieldset>
	);
}

function Choices({
	functions,
	allowed,
	onChange,
}: {
	functions: readonly ToolFunction[];
	allowed: readonly string[] | null;
	onChange: (allowed: string[] | null) => void;
}) {
	const t = strings().toolPages;
	const offered = functions.map(({ name }) => name);
	/** Allowed before, and not offered now. */
	const absent = (allowed ?? []).filter((name) => !offered.includes(name));
	const toggle = (name: string, isAllowed: boolean) => {
		const others = (allowed ?? offered).filter((other) => other !== name);
		onChange(isAllowed ? [...others, name] : others);
	};
	return (
		<>
			{functions.length === 0 && <p class="soft">{t.noFunctions}</p>}
			<Checkbox
				label={t.allFunctions}
				checked={allowed === null}
				onChange={(isAll) => onChange(isAll ? null : offered)}
			/>
			{functions.map(({ name, description }) => (
				<Checkbox
					key={name}
					label={name}
					{...(description && { hint: description })}
					checked={allowed?.includes(name) ?? true}
					disabled={allowed === null}
					onChange={(isAllowed) => toggle(name, isAllowed)}
				/>
			))}
			{absent.map((name) => (
				<Checkbox key={name} label={name} hint={t.notOffered} checked onChange={() => toggle(name, false)} />
			))}
		</>
	);
}
