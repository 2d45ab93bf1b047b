import type { ApiError } from '../../api/api-error.ts';
import { Field } from '../../components/field.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { fieldErrorText } from '../../languages/error-text.ts';
import { fill, strings } from '../../languages/index.ts';
import { type DeploymentFields, filled, MAX_DOMAINS } from './fields.ts';

/** The websites that may show the widget. */
export function WebsiteFields({
	draft: { values, change },
	rejected,
}: {
	draft: Draft<DeploymentFields>;
	rejected: ApiError | null;
}) {
	const t = strings().deploymentPages;
	const domains = values.allowed_domains;
	return (
		<>
			<Field label={t.websites} hint={t.websitesHint} error={errorOf(rejected, domains)}>
				{(ids) => (
					<textarea
						{...ids}
						class="code"
						rows={Math.min(12, Math.max(4, domains.length + 1))}
						spellcheck={false}
						placeholder={'shop.example\n*.shop.example'}
						value={domains.join('\n')}
						onInput={(event) => change({ allowed_domains: linesOf(event.currentTarget.value) })}
					/>
				)}
			</Field>
			{domains.length === 0 && <p class="notice">{t.noWebsites}</p>}
			{domains.includes('*') && <p class="notice">{t.anyWebsite}</p>}
		</>
	);
}

/** What the text area holds, line by line. An empty last line stays while it is typed. */
function linesOf(text: string): string[] {
	return text === '' ? [] : text.split('\n').slice(0, MAX_DOMAINS);
}

/** The server's sentence about an entry, with the number of its line. */
function errorOf(rejected: ApiError | null, lines: readonly string[]): string | null {
	const detail = rejected?.details.find(({ path }) => path.startsWith('/allowed_domains'));
	if (detail === undefined) return null;
	const at = Number(detail.path.split('/')[2]);
	const entry = filled(lines)[at];
	const problem = fieldErrorText(strings().errors, rejected?.code ?? '', detail.message);
	return entry === undefined ? problem : fill(strings().deploymentPages.entryWrong, { entry, problem });
}
