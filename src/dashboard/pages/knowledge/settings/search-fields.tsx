import { Checkbox, SelectField, SliderField } from '../../../components/field.tsx';
import { strings } from '../../../languages/index.ts';

/** How a knowledge base is searched, as the form changes it. */
export interface SearchValues {
	hybrid: boolean;
	/** The set weight; null: the knowledge base chooses it. */
	weight: number | null;
}

/** How the knowledge base is searched. @param used the weight in use */
export function SearchFields({
	values: { hybrid, weight },
	used,
	onChange,
}: {
	values: SearchValues;
	used: number;
	onChange: (part: Partial<SearchValues>) => void;
}) {
	const t = strings().knowledgePages;
	return (
		<fieldset>
			<legend>{t.searchSettings}</legend>
			<Checkbox
				label={t.hybrid}
				hint={t.hybridHint}
				checked={hybrid}
				onChange={(checked) => onChange({ hybrid: checked })}
			/>
			{hybrid && (
				<SelectField
					label={t.weightSource}
					value={weight === null ? 'auto' : 'set'}
					options={[
						{ value: 'auto', label: `${t.weightSourceAuto} (${used})` },
						{ value: 'set', label: t.weightSourceSet },
					]}
					onChange={(source) => onChange({ weight: source === 'auto' ? null : used })}
				/>
			)}
			{hybrid && weight !== null && (
				<SliderField
					label={t.weight}
					hint={t.weightHint}
					{...{ min: 0, max: 1, step: 0.05 }}
					value={weight}
					onChange={(next) => onChange({ weight: next })}
				/>
			)}
		</fieldset>
	);
}
