import { useState } from 'preact/hooks';
import { BASE_URL } from '../../api/client.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { Checkbox, SelectField } from '../../components/field.tsx';
import { language, strings } from '../../languages/index.ts';

/** The languages of the widget. */
export const WIDGET_LANGUAGES = ['en', 'de', 'fr', 'es', 'nl', 'pt', 'ja', 'ar'] as const;

/** What puts the widget on a page. */
export function Snippet({ deploymentId }: { deploymentId: string }) {
	const t = strings().deploymentPages;
	const [chosen, setChosen] = useState('');
	const [opensItself, setOpensItself] = useState(false);
	const attributes = [
		`src="${BASE_URL}widget.js"`,
		`data-deployment-id="${deploymentId}"`,
		...(chosen === '' ? [] : [`data-language="${chosen}"`]),
		...(opensItself ? ['data-open'] : []),
		'async',
	];
	const snippet = `<script ${attributes.join(' ')}></script>`;
	return (
		<section class="card narrow" aria-label={t.snippet}>
			<h2>{t.snippet}</h2>
			<p class="soft">{t.snippetHint}</p>
			<CodeBlock text={snippet} label={t.pageCode} />
			<div class="field-grid">
				<SelectField
					label={t.widgetLanguage}
					value={chosen}
					options={languageOptions(t.visitorsLanguage)}
					onChange={setChosen}
				/>
			</div>
			<Checkbox label={t.opensItself} hint={t.opensItselfHint} checked={opensItself} onChange={setOpensItself} />
		</section>
	);
}

/** The languages of the widget by their names. @param automatic the label of the visitor's language */
export function languageOptions(automatic: string): { value: string; label: string }[] {
	const names = new Intl.DisplayNames(language.value, { type: 'language' });
	const options = WIDGET_LANGUAGES.map((value) => ({ value, label: names.of(value) ?? value }));
	return [{ value: '', label: automatic }, ...options];
}
