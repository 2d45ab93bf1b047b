import type { Resource } from '../../api/client.ts';
import { type Strings, strings } from '../../languages/index.ts';
import type { Deployment } from './queries.ts';

type Appearance = Deployment['appearance'];
type Features = Pick<Deployment['features'], 'streaming' | 'rich_content' | 'ai_disclosure' | 'handoff'>;
type General = Pick<
	Deployment,
	'name' | 'assistant_id' | 'time_zone' | 'retention_days' | 'allowed_domains' | 'budget' | 'visitor_budget'
>;

/** What the form of a deployment changes, one member for each control, so that two people may change different ones. */
export interface DeploymentFields extends General, Appearance, Features {
	messages_per_minute: number;
}

/** The tabs of the editor. */
export const TABS = ['appearance', 'websites', 'settings', 'tokens'] as const;
export type Tab = (typeof TABS)[number];

const FEATURES = [
	'streaming',
	'rich_content',
	'ai_disclosure',
	'handoff',
] as const satisfies readonly (keyof Features)[];
const GENERAL = [
	'name',
	'assistant_id',
	'time_zone',
	'retention_days',
	'allowed_domains',
	'budget',
	'visitor_budget',
] as const satisfies readonly (keyof General)[];
const ON_SETTINGS: readonly string[] = [
	'name',
	'assistant_id',
	'time_zone',
	'retention_days',
	'rate_limit',
	'budget',
	'visitor_budget',
];

/** The most suggested questions and allowlist entries; as in the contract. */
export const MAX_QUESTIONS = 10;
export const MAX_DOMAINS = 200;

export function fieldsOf(deployment: Deployment): DeploymentFields {
	const { name, assistant_id, time_zone, retention_days, allowed_domains, appearance, features, rate_limit } =
		deployment;
	const { budget, visitor_budget } = deployment;
	const { streaming, rich_content, ai_disclosure, handoff } = features;
	const { messages_per_minute } = rate_limit;
	return {
		...{ name, assistant_id, time_zone, retention_days, allowed_domains, budget, visitor_budget },
		...appearance,
		...{ streaming, rich_content, ai_disclosure, handoff, messages_per_minute },
	};
}

/** The body of the PATCH for changed fields. */
export function patchOf(changes: Partial<DeploymentFields>): Resource<'DeploymentPatch'> {
	const general = pick(changes, GENERAL);
	if (general.allowed_domains) general.allowed_domains = filled(general.allowed_domains);
	const features = pick(changes, FEATURES);
	const { messages_per_minute } = changes;
	const others = [...GENERAL, ...FEATURES, 'messages_per_minute'] as readonly string[];
	const appearance: Partial<Appearance> = Object.fromEntries(
		Object.entries(changes).filter(([name]) => !others.includes(name)),
	);
	if (appearance.suggested_questions) appearance.suggested_questions = filled(appearance.suggested_questions);
	return {
		...general,
		...(Object.keys(appearance).length > 0 && { appearance }),
		...(Object.keys(features).length > 0 && { features }),
		...(messages_per_minute !== undefined && { rate_limit: { messages_per_minute } }),
	};
}

/** The texts of a list without empty ones, which a form may have while it is filled in. */
export function filled(texts: readonly string[]): string[] {
	return texts.map((text) => text.trim()).filter((text) => text !== '');
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Partial<Pick<T, K>> {
	return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name as K))) as Partial<Pick<T, K>>;
}

/** The JSON Pointer of a field in the body of a PATCH. */
export function pointerOf(field: keyof DeploymentFields): string {
	if ((GENERAL as readonly string[]).includes(field)) return `/${field}`;
	if ((FEATURES as readonly string[]).includes(field)) return `/features/${field}`;
	return field === 'messages_per_minute' ? '/rate_limit/messages_per_minute' : `/appearance/${field}`;
}

/** The JSON Pointers whose errors the form shows beside its controls. */
export function pointersOf(values: DeploymentFields): string[] {
	const indices = (length: number, path: string) => Array.from({ length }, (_, at) => `${path}/${at}`);
	return [
		...(Object.keys(values) as (keyof DeploymentFields)[]).map(pointerOf),
		...indices(MAX_QUESTIONS, '/appearance/suggested_questions'),
		...indices(MAX_DOMAINS, '/allowed_domains'),
	];
}

/** The tab with the control of a pointer. */
export function tabOf(pointer: string): Tab {
	const [, first = ''] = pointer.split('/');
	if (first === 'allowed_domains') return 'websites';
	return ON_SETTINGS.includes(first) ? 'settings' : 'appearance';
}

/** The labels of the fields, for a conflict. */
export function labelOf({ deploymentPages: t, costTexts }: Strings, field: keyof DeploymentFields): string {
	const labels: Record<keyof DeploymentFields, string> = {
		name: t.name,
		assistant_id: t.assistant,
		time_zone: t.timeZone,
		allowed_domains: t.websites,
		primary_color: t.colour,
		theme: t.theme,
		position: t.position,
		greeting: t.greeting,
		suggested_questions: t.questions,
		assistant_name: t.title,
		status_text: t.statusText,
		logo_url: t.logo,
		privacy_url: t.privacy,
		disclosure_text: t.disclosureText,
		font_family: t.font,
		radius: t.radius,
		streaming: t.streaming,
		rich_content: t.richContent,
		ai_disclosure: t.disclosure,
		handoff: t.handoff,
		messages_per_minute: t.messagesPerMinute,
		retention_days: strings().accessPages.retention,
		budget: costTexts.deploymentBudget,
		visitor_budget: costTexts.visitorBudget,
	};
	return labels[field];
}
