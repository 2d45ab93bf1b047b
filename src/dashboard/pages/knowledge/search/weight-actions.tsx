import { api, versionedResultOf } from '../../../api/client.ts';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { fill, strings } from '../../../languages/index.ts';
import { type KnowledgeBase, keepBase } from '../queries.ts';

/** Saves the weight of the slider, or lets the knowledge base choose it again. */
export function WeightActions({
	base,
	weight,
	onChosen,
}: {
	base: KnowledgeBase;
	weight: number;
	/** Called with the weight in use after a change. */
	onChosen: (weight: number) => void;
}) {
	const t = strings().knowledgePages;
	const { semantic_weight, semantic_weight_source } = base.search_settings;
	const save = useAction(async (semantic_weight: number | null) => {
		// Whatever the version: a training changes it at any time, and the weight depends on no other field.
		const params = { path: { id: base.id } };
		const body = { search_settings: { semantic_weight } };
		const saved = await versionedResultOf(api.PATCH('/api/v1/knowledge-bases/{id}', { params, body }));
		keepBase(saved);
		onChosen(saved.value.search_settings.semantic_weight);
		showToast(t.weightSaved);
	});
	const isAuto = semantic_weight_source === 'auto';
	return (
		<div class="weight-actions">
			<p class="hint">{fill(isAuto ? t.weightAuto : t.weightSet, { weight: semantic_weight })}</p>
			<div class="actions">
				<Button
					isBusy={save.isBusy}
					disabled={!isAuto && weight === semantic_weight}
					onClick={() => void save.run(weight)}
				>
					{t.saveWeight}
				</Button>
				{!isAuto && (
					<Button look="quiet" isBusy={save.isBusy} onClick={() => void save.run(null)}>
						{t.autoWeight}
					</Button>
				)}
			</div>
		</div>
	);
}
