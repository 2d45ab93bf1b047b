import type { ApiError } from '../../api/api-error.ts';
import { Checkbox, SelectField, TextArea, TextField } from '../../components/field.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { ColourField } from './colour-field.tsx';
import { type DeploymentFields, pointerOf } from './fields.ts';
import { QuestionList } from './question-list.tsx';

interface FormProps {
	draft: Draft<DeploymentFields>;
	rejected: ApiError | null;
}

/** The look and the texts of the widget. */
export function AppearanceFields({ draft, rejected }: FormProps) {
	const t = strings().deploymentPages;
	const { values, change } = draft;
	const errorOf = (field: keyof DeploymentFields) => rejected?.messageFor(pointerOf(field));
	return (
		<>
			<ColourField
				value={values.primary_color}
				error={errorOf('primary_color')}
				onChange={(primary_color) => change({ primary_color })}
			/>
			<Look draft={draft} />
			<TextArea
				label={t.greeting}
				rows={2}
				maxLength={1000}
				value={values.greeting}
				error={errorOf('greeting')}
				onChange={(greeting) => change({ greeting })}
			/>
			<QuestionList
				questions={values.suggested_questions}
				errorOf={(at) => rejected?.messageFor(`/appearance/suggested_questions/${at}`)}
				onChange={(suggested_questions) => change({ suggested_questions })}
			/>
			<OptionalText field="assistant_name" label={t.title} hint={t.titleHint} maxLength={80} {...{ draft, rejected }} />
			<OptionalText field="logo_url" label={t.logo} hint={t.logoHint} maxLength={2000} {...{ draft, rejected }} />
			<OptionalText
				field="status_text"
				label={t.statusText}
				hint={t.statusTextHint}
				maxLength={120}
				{...{ draft, rejected }}
			/>
			<OptionalText
				field="privacy_url"
				label={t.privacy}
				hint={t.privacyHint}
				maxLength={2000}
				{...{ draft, rejected }}
			/>
			<Behaviour draft={draft} rejected={rejected} />
		</>
	);
}

/** The choices among a few looks. */
function Look({ draft: { values, change } }: Pick<FormProps, 'draft'>) {
	const t = strings().deploymentPages;
	return (
		<div class="field-grid">
			<SelectField
				label={t.theme}
				value={values.theme}
				options={(['light', 'dark', 'auto'] as const).map((value) => ({ value, label: t[`theme_${value}`] }))}
				onChange={(theme) => change({ theme: theme as DeploymentFields['theme'] })}
			/>
			<SelectField
				label={t.position}
				value={values.position}
				options={(['bottom-right', 'bottom-left'] as const).map((value) => ({ value, label: t[`position_${value}`] }))}
				onChange={(position) => change({ position: position as DeploymentFields['position'] })}
			/>
			<SelectField
				label={t.font}
				value={values.font_family}
				options={(['system', 'inherit', 'serif', 'mono'] as const).map((value) => ({
					value,
					label: t[`font_${value}`],
				}))}
				onChange={(font) => change({ font_family: font as DeploymentFields['font_family'] })}
			/>
			<SelectField
				label={t.radius}
				value={values.radius}
				options={(['none', 'small', 'medium', 'large'] as const).map((value) => ({
					value,
					label: t[`radius_${value}`],
				}))}
				onChange={(radius) => change({ radius: radius as DeploymentFields['radius'] })}
			/>
		</div>
	);
}

/** What the widget does, and how it says that an AI answers. */
function Behaviour({ draft, rejected }: FormProps) {
	const t = strings().deploymentPages;
	const { values, change } = draft;
	return (
		<fieldset>
			<legend>{t.features}</legend>
			<Checkbox
				label={t.disclosure}
				hint={values.ai_disclosure ? t.disclosureHint : t.disclosureOff}
				checked={values.ai_disclosure}
				onChange={(ai_disclosure) => change({ ai_disclosure })}
			/>
			{values.ai_disclosure && (
				<OptionalText
					field="disclosure_text"
					label={t.disclosureText}
					hint={t.disclosureTextHint}
					maxLength={120}
					{...{ draft, rejected }}
				/>
			)}
			<Checkbox
				label={t.streaming}
				hint={t.streamingHint}
				checked={values.streaming}
				onChange={(streaming) => change({ streaming })}
			/>
			<Checkbox
				label={t.richContent}
				hint={t.richContentHint}
				checked={values.rich_content}
				onChange={(rich_content) => change({ rich_content })}
			/>
			<Checkbox
				label={t.handoff}
				hint={t.handoffHint}
				checked={values.handoff}
				onChange={(handoff) => change({ handoff })}
			/>
		</fieldset>
	);
}

type OptionalField = 'assistant_name' | 'logo_url' | 'status_text' | 'privacy_url' | 'disclosure_text';

/** A text that may be absent: an empty field is null. */
function OptionalText({
	field,
	draft: { values, change },
	rejected,
	...rest
}: FormProps & { field: OptionalField; label: string; hint: string; maxLength: number }) {
	return (
		<TextField
			{...rest}
			value={values[field] ?? ''}
			error={rejected?.messageFor(pointerOf(field))}
			onChange={(text) => change({ [field]: text === '' ? null : text })}
		/>
	);
}
