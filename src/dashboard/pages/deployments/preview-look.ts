import { sixDigits } from './contrast.ts';
import { type DeploymentFields, filled } from './fields.ts';
import type { Deployment } from './queries.ts';

/** What the preview shows of a form. */
export interface PreviewLook {
	appearance: Deployment['appearance'];
	features: Pick<Deployment['features'], 'streaming' | 'rich_content' | 'ai_disclosure' | 'handoff'>;
}

const WEB_ADDRESS = /^https?:\/\/\S+$/;
const SECURE_ADDRESS = /^https:\/\/\S+$/;

/** The look of a form's values. A value that is still being typed and not valid yet is left out. */
export function previewLook(values: DeploymentFields): PreviewLook {
	const textOrNull = (text: string | null) => text?.trim() || null;
	const matching = (text: string | null, pattern: RegExp) => (text !== null && pattern.test(text) ? text : null);
	return {
		appearance: {
			primary_color: sixDigits(values.primary_color) ?? '#4f46e5',
			theme: values.theme,
			position: values.position,
			greeting: values.greeting,
			suggested_questions: filled(values.suggested_questions),
			assistant_name: textOrNull(values.assistant_name),
			status_text: textOrNull(values.status_text),
			logo_url: matching(values.logo_url, SECURE_ADDRESS),
			privacy_url: matching(values.privacy_url, WEB_ADDRESS),
			disclosure_text: textOrNull(values.disclosure_text),
			font_family: values.font_family,
			radius: values.radius,
		},
		features: {
			streaming: values.streaming,
			rich_content: values.rich_content,
			ai_disclosure: values.ai_disclosure,
			handoff: values.handoff,
		},
	};
}
