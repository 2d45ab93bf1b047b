import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { TextArea } from '../../components/field.tsx';
import { RowsEditor } from '../../components/rows-editor.tsx';
import { strings } from '../../languages/index.ts';
import {
	EMPTY_PARAMETER,
	PARAMETER_TYPES,
	type ParameterRow,
	type ParameterType,
	parseRows,
	schemaText,
} from './parameter-rows.ts';

/** The parameters of an API tool: a table while the schema is simple, else its JSON. */
export function ParametersField({
	value,
	error,
	onChange,
}: {
	/** A JSON Schema as a text. */
	value: string;
	error: string | null;
	onChange: (value: string) => void;
}) {
	const t = strings().toolPages;
	const parsed = parseRows(value);
	const [isJson, setJson] = useState(parsed === null);
	/** The rows as they are typed: the schema has no rows without a name. */
	const [typed, setTyped] = useState<readonly ParameterRow[]>(parsed ?? []);
	const rows = parsed !== null && schemaText(typed) !== value ? parsed : typed;
	const isTable = !isJson && parsed !== null;
	return (
		<div class="parameters">
			{isTable ? (
				<ParameterTable
					rows={rows}
					onChange={(next) => {
						setTyped(next);
						onChange(schemaText(next));
					}}
				/>
			) : (
				<TextArea label={t.parameters} rows={10} value={value} error={error} onChange={onChange} isCode />
			)}
			{isTable && error && <p class="field-error">{error}</p>}
			<p class="hint">{isTable ? t.parametersHint : parsed === null && t.notSimple}</p>
			<Button look="quiet" disabled={!isTable && parsed === null} onClick={() => setJson(isTable)}>
				{isTable ? t.asJson : t.asRows}
			</Button>
		</div>
	);
}

function ParameterTable({
	rows,
	onChange,
}: {
	rows: readonly ParameterRow[];
	onChange: (rows: ParameterRow[]) => void;
}) {
	const t = strings().toolPages;
	const typeNames = { string: t.typeString, number: t.typeNumber, integer: t.typeInteger, boolean: t.typeBoolean };
	return (
		<RowsEditor label={t.parameters} rows={rows} emptyRow={EMPTY_PARAMETER} onChange={onChange}>
			{(row, change, nameOf) => (
				<>
					<input
						class="grows"
						type="text"
						aria-label={nameOf(t.parameter)}
						placeholder={t.parameter}
						value={row.name}
						onInput={(event) => change({ name: event.currentTarget.value })}
					/>
					<select
						class="fits"
						aria-label={nameOf(t.parameterType)}
						value={row.type}
						onChange={(event) => change({ type: event.currentTarget.value as ParameterType })}
					>
						{PARAMETER_TYPES.map((type) => (
							<option key={type} value={type}>
								{typeNames[type]}
							</option>
						))}
					</select>
					<label class="inline-choice">
						<input
							type="checkbox"
							aria-label={nameOf(t.parameterRequired)}
							checked={row.isRequired}
							onChange={(event) => change({ isRequired: event.currentTarget.checked })}
						/>
						<span aria-hidden="true">{t.parameterRequired}</span>
					</label>
					<input
						class="whole"
						type="text"
						aria-label={nameOf(t.parameterDescription)}
						placeholder={t.parameterDescription}
						value={row.description}
						onInput={(event) => change({ description: event.currentTarget.value })}
					/>
				</>
			)}
		</RowsEditor>
	);
}
