import { linkTo, route } from '../app/route.ts';
import { fill } from '../languages/index.ts';

export interface Tab {
	value: string;
	label: string;
	/** How many entries it has, where that is known. */
	count?: number | undefined;
}

/** Parts of one page. Each is a link: the chosen one is `?tab=` in the address; the first is chosen without one. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
	const { path } = route.value;
	const current = currentTab(tabs);
	return (
		<nav class="tabs" aria-label={label}>
			{tabs.map(({ value, label: text, count }, at) => (
				<a
					key={value}
					href={linkTo(path, { tab: at === 0 ? undefined : value })}
					aria-current={value === current ? 'page' : undefined}
				>
					{text}
					{count !== undefined && <span class="tab-count">{fill('{count}', { count })}</span>}
				</a>
			))}
		</nav>
	);
}

/** The tab that the address names, else the first. */
export function currentTab(tabs: readonly { value: string }[]): string {
	const named = route.value.query.get('tab');
	return (tabs.find(({ value }) => value === named) ?? tabs[0])?.value ?? '';
}
