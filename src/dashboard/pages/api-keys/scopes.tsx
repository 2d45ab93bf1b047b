import type { Resource } from '../../api/client.ts';
import { may } from '../../app/session.ts';
import { Checkbox } from '../../components/field.tsx';
import { strings } from '../../languages/index.ts';
import type { AccessStrings } from '../../languages/strings.ts';

export type Scope = Resource<'ApiKey'>['scopes'][number];
type Area = keyof AccessStrings['areas'];

const AREAS: readonly Area[] = [
	'assistants',
	'knowledge_bases',
	'tools',
	'deployments',
	'conversations',
	'messages',
	'webhooks',
	'settings',
];

/** Checkboxes for the scopes of a key: everything, or reading and changing area by area. A person grants no more than the own rights. */
export function ScopeFields({ scopes, onChange }: { scopes: readonly Scope[]; onChange: (scopes: Scope[]) => void }) {
	const t = strings().accessPages;
	const hasAll = scopes.includes('*');
	const toggle = (scope: Scope, isChosen: boolean) => {
		const others = scopes.filter((chosen) => chosen !== scope);
		onChange(isChosen ? [...others, scope] : others);
	};
	return (
		<fieldset class="scopes">
			<legend>{t.scopes}</legend>
			{may('*') && (
				<Checkbox label={t.everything} checked={hasAll} onChange={(checked) => onChange(checked ? ['*'] : [])} />
			)}
			{!hasAll &&
				AREAS.filter((area) => may(`${area}:read`)).map((area) => (
					<fieldset key={area} class="scope-area">
						<legend>{t.areas[area]}</legend>
						{(['read', 'write'] as const)
							.filter((access) => may(`${area}:${access}`))
							.map((access) => (
								<Checkbox
									key={access}
									label={access === 'read' ? t.read : t.change}
									checked={scopes.includes(`${area}:${access}`)}
									onChange={(checked) => toggle(`${area}:${access}`, checked)}
								/>
							))}
					</fieldset>
				))}
		</fieldset>
	);
}

/** What a key may do, in words. */
export function ScopeSummary({ scopes }: { scopes: readonly Scope[] }) {
	const t = strings().accessPages;
	if (scopes.includes('*')) return <>{t.everythingShort}</>;
	const areas = AREAS.flatMap((area) => {
		const granted = [
			...(scopes.includes(`${area}:read`) ? [t.read] : []),
			...(scopes.includes(`${area}:write`) ? [t.change] : []),
		];
		return granted.length === 0 ? [] : [`${t.areas[area]} (${granted.join(', ')})`];
	});
	return <span class="hint">{areas.join('; ')}</span>;
}
