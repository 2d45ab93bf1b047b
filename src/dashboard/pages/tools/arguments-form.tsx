import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Field, SelectField, TextArea, TextField } from '../../components/field.tsx';
import { fill, strings } from '../../languages/index.ts';
import { isRecord, jsonProblem } from './parameter-rows.ts';

type Schema = Record<string, unknown>;

/** The arguments of a call: a field for each parameter, or their JSON. */
export function ArgumentsForm({
	schema,
	value,
	onChange,
}: {
	/** The JSON Schema of the arguments. */
	schema: Schema;
	/** JSON. */
	value: string;
	onChange: (value: string) => void;
}) {
	const t = strings().toolPages;
	const [isJson, setJson] = useState(false);
	const problem = jsonProblem(value);
	const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
	const isForm = !isJson && problem === null;
	const error =
		problem === 'not-an-object' ? t.notAnObject : problem && fill(t.invalidJson, { reason: problem.message });
	return (
		<>
			{isForm ? (
				<ArgumentFields
					properties={properties}
					required={Array.isArray(schema.required) ? schema.required : []}
					values={JSON.parse(value)}
					onChange={(values) => onChange(JSON.stringify(values, null, 2))}
				/>
			) : (
				<TextArea label={t.tryArguments} rows={6} isCode value={value} error={error} onChange={onChange} />
			)}
			{isForm && properties.length === 0 && <p class="soft">{t.tryNoArguments}</p>}
			<Button look="quiet" disabled={problem !== null} onClick={() => setJson(isForm)}>
				{isForm ? t.tryAsJson : t.tryAsForm}
			</Button>
		</>
	);
}

function ArgumentFields({
	properties,
	required,
	values,
	onChange,
}: {
	properties: readonly [name: string, schema: unknown][];
	required: readonly unknown[];
	values: Record<string, unknown>;
	onChange: (values: Record<string, unknown>) => void;
}) {
	const set = (name: string, value: unknown) => {
		const { [name]: _former, ...others } = values;
		onChange(value === undefined ? others : { ...others, [name]: value });
	};
	return (
		<>
			{properties.map(([name, schema]) => (
				<ArgumentField
					key={name}
					label={required.includes(name) ? `${name} *` : name}
					schema={isRecord(schema) ? schema : {}}
					value={values[name]}
					onChange={(value) => set(name, value)}
				/>
			))}
		</>
	);
}

/** The field of one parameter, by its type. An empty field is an argument that is not given. */
function ArgumentField({
	label,
	schema,
	value,
	onChange,
}: {
	label: string;
	schema: Schema;
	value: unknown;
	onChange: (value: unknown) => void;
}) {
	const t = strings().toolPages;
	const hint = typeof schema.description === 'string' ? schema.description : undefined;
	const choices = schema.type === 'boolean' ? [true, false] : schema.enum;
	if (Array.isArray(choices)) {
		const nameOf = (choice: unknown) => (choice === true ? t.yes : choice === false ? t.no : String(choice));
		const options = choices.map((choice, at) => ({ value: String(at), label: nameOf(choice) }));
		const chosen = choices.indexOf(value);
		return (
			<SelectField
				label={label}
				hint={hint}
				value={chosen < 0 ? '' : String(chosen)}
				options={[{ value: '', label: t.notGiven }, ...options]}
				onChange={(at) => onChange(at === '' ? undefined : choices[Number(at)])}
			/>
		);
	}
	switch (schema.type) {
		case 'string':
			return (
				<TextField
					label={label}
					hint={hint}
					value={typeof value === 'string' ? value : ''}
					onChange={(text) => onChange(text === '' ? undefined : text)}
				/>
			);
		case 'number':
		case 'integer':
			return (
				<Field label={label} hint={hint}>
					{(ids) => (
						<input
							{...ids}
							type="number"
							step={schema.type === 'integer' ? 1 : 'any'}
							value={typeof value === 'number' ? value : ''}
							onChange={({ currentTarget: { valueAsNumber } }) =>
								onChange(Number.isNaN(valueAsNumber) ? undefined : valueAsNumber)
							}
						/>
					)}
				</Field>
			);
		default:
			return <JsonField label={label} hint={hint} value={value} onChange={onChange} />;
	}
}

/** Any value as JSON. Text that is not JSON stays in the field with its error, and gives no argument. */
function JsonField({
	label,
	hint,
	value,
	onChange,
}: {
	label: string;
	hint: string | undefined;
	value: unknown;
	onChange: (value: unknown) => void;
}) {
	const t = strings().toolPages;
	const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
	const [error, setError] = useState<string | null>(null);
	const change = (typed: string) => {
		setText(typed);
		setError(null);
		if (typed.trim() === '') return onChange(undefined);
		try {
			onChange(JSON.parse(typed));
		} catch (problem) {
			setError(fill(t.invalidJson, { reason: (problem as Error).message }));
			onChange(undefined);
		}
	};
	return (
		<TextArea label={`${label} (JSON)`} hint={hint} rows={3} isCode value={text} error={error} onChange={change} />
	);
}
