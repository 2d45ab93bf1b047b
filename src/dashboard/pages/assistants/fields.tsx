import type { ApiError } from '../../api/api-error.ts';
import { type Model, modelList } from '../../api/prices.ts';
import { useQuery } from '../../api/queries.ts';
import { SelectField, SliderField, TextArea, TextField } from '../../components/field.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { fill, locale, strings } from '../../languages/index.ts';
import { formatMoney } from '../../languages/money.ts';
import type { AssistantStrings } from '../../languages/strings.ts';
import type { Assistant } from './queries.ts';
import { RedactionField } from './redaction-field.tsx';

/** What the form of an assistant changes. */
export type AssistantFields = Pick<
	Assistant,
	'name' | 'description' | 'master_prompt' | 'model' | 'rag_settings' | 'redaction'
>;

/** The fields whose errors the form shows beside them. */
export const FIELD_POINTERS = ['/name', '/description', '/master_prompt', '/model'];

export function fieldsOf(assistant: Assistant): AssistantFields {
	const { name, description, master_prompt, model, rag_settings, redaction } = assistant;
	return { name, description, master_prompt, model, rag_settings, redaction };
}

export function labelsOf(t: AssistantStrings): Record<keyof AssistantFields, string> {
	return {
		name: t.name,
		description: t.description,
		master_prompt: t.instructions,
		model: t.model,
		rag_settings: t.retrieval,
		redaction: t.redaction,
	};
}

export function Fields({ draft, rejected }: { draft: Draft<AssistantFields>; rejected: ApiError | null }) {
	const t = strings().assistantPages;
	const { values, change } = draft;
	const { rag_settings } = values;
	return (
		<>
			<TextField
				label={t.name}
				maxLength={200}
				required
				value={values.name}
				error={rejected?.messageFor('/name')}
				onChange={(name) => change({ name })}
			/>
			<TextField
				label={t.description}
				hint={t.descriptionHint}
				maxLength={2000}
				value={values.description ?? ''}
				error={rejected?.messageFor('/description')}
				onChange={(description) => change({ description: description === '' ? null : description })}
			/>
			<ModelField model={values.model} error={rejected?.messageFor('/model')} onChange={(model) => change({ model })} />
			<TextArea
				label={t.instructions}
				hint={values.model.startsWith('builtin/') ? t.instructionsHint : undefined}
				rows={8}
				maxLength={32_000}
				value={values.master_prompt}
				error={rejected?.messageFor('/master_prompt')}
				onChange={(master_prompt) => change({ master_prompt })}
			/>
			<fieldset>
				<legend>{t.retrieval}</legend>
				<SliderField
					label={t.topK}
					{...{ min: 1, max: 50, step: 1 }}
					value={rag_settings.top_k}
					onChange={(top_k) => change({ rag_settings: { ...rag_settings, top_k } })}
				/>
				<SliderField
					label={t.minScore}
					{...{ min: 0, max: 1, step: 0.05 }}
					value={rag_settings.min_score}
					onChange={(min_score) => change({ rag_settings: { ...rag_settings, min_score } })}
				/>
			</fieldset>
			<RedactionField value={values.redaction} onChange={(redaction) => change({ redaction })} />
		</>
	);
}

/** The models that the server offers. A chosen model that is not configured stays visible, and the field says so. */
function ModelField({
	model,
	error,
	onChange,
}: {
	model: string;
	error: string | null | undefined;
	onChange: (model: string) => void;
}) {
	const t = strings().assistantPages;
	const { data: models } = useQuery(modelList());
	const any = models?.find(({ name, provider }) => name === null && model.startsWith(`${provider}/`));
	if (any) {
		return (
			<TextField
				label={t.model}
				hint={[any.description, priceText(models?.find(({ id }) => id === model) ?? any)].filter(Boolean).join(' ')}
				maxLength={200}
				value={model}
				error={error}
				onChange={onChange}
			/>
		);
	}
	const chosen = models?.find(({ id }) => id === model);
	const isMissing = models !== undefined && chosen === undefined;
	const options = (models ?? []).map(toOption);
	if (isMissing) options.unshift({ value: model, label: fill(t.modelMissing, { model }) });
	if (models === undefined) options.push({ value: model, label: model });
	return (
		<SelectField
			label={t.model}
			hint={isMissing ? t.modelMissingHint : model.startsWith('builtin/') ? t.modelHint : priceText(chosen)}
			value={model}
			options={options}
			error={error}
			onChange={onChange}
		/>
	);
}

/** A provider that takes any name is chosen with an empty one, which its text field then asks for. */
function toOption(model: Model): { value: string; label: string } {
	const { id, provider, name } = model;
	const prices = pricesOf(model);
	const shown = name === null ? `${provider}/…` : id;
	const label = prices === null ? shown : fill(strings().costTexts.modelOption, { model: shown, ...prices });
	return { value: name === null ? `${provider}/` : id, label };
}

function priceText(model: Model | undefined): string | undefined {
	const prices = model && pricesOf(model);
	return prices ? fill(strings().costTexts.perMillion, prices) : undefined;
}

/** The prices of a million tokens; null for a model without a price, or that costs nothing. */
function pricesOf({ price }: Model): { input: string; output: string } | null {
	if (price === null || price.input_micros + price.output_micros === 0) return null;
	const { input_micros, output_micros, currency } = price;
	const [input, output] = [input_micros, output_micros].map((micros) => formatMoney(micros, currency, locale.value));
	return { input: input as string, output: output as string };
}
