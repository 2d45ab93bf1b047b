import type { access } from './en/access.ts';
import type { assistants } from './en/assistants.ts';
import type { cannedReplies } from './en/canned-replies.ts';
import type { costs } from './en/costs.ts';
import type { deployments } from './en/deployments.ts';
import type { inbox } from './en/inbox.ts';
import type { inboxTools } from './en/inbox-tools.ts';
import type { knowledge } from './en/knowledge.ts';
import type { overview } from './en/overview.ts';
import type { parts } from './en/parts.ts';
import type { privacy } from './en/privacy.ts';
import type { shell } from './en/shell.ts';
import type { start } from './en/start.ts';
import type { tools } from './en/tools.ts';
import type { eventNames, webhooks } from './en/webhooks.ts';
import type { ErrorStrings } from './error-text.ts';

/** A text, or a text in its singular and plural form. */
type Texts<T> = { readonly [Name in keyof T]: T[Name] extends string ? string : Texts<T[Name]> };

/** The texts of the shell and of what all pages share. */
export type ShellStrings = Texts<typeof shell>;
/** The texts of small components that several pages share. */
export type PartStrings = Texts<typeof parts>;
export type AccessStrings = Texts<typeof access>;
export type StartStrings = Texts<typeof start>;
export type OverviewStrings = Texts<typeof overview>;
export type CostStrings = Texts<typeof costs>;
export type AssistantStrings = Texts<typeof assistants>;
export type CannedReplyStrings = Texts<typeof cannedReplies>;
export type ToolStrings = Texts<typeof tools>;
export type WebhookStrings = Texts<typeof webhooks>;
export type PrivacyStrings = Texts<typeof privacy>;
export type EventNames = Texts<typeof eventNames>;
export type InboxStrings = Texts<typeof inbox>;
export type InboxToolStrings = Texts<typeof inboxTools>;
export type KnowledgeStrings = Texts<typeof knowledge>;
export type DeploymentStrings = Texts<typeof deployments>;

/** All texts of the dashboard. The English ones decide which there are; each other language has all of them. */
export interface Strings extends ShellStrings {
	parts: PartStrings;
	errors: ErrorStrings;
	/** Settings and the account. */
	accessPages: AccessStrings;
	startPage: StartStrings;
	assistantPages: AssistantStrings;
	costTexts: CostStrings;
	overviewPage: OverviewStrings;
	cannedReplyPages: CannedReplyStrings;
	toolPages: ToolStrings;
	webhookPages: WebhookStrings;
	/** By the type of the event. */
	eventNames: EventNames;
	inboxPages: InboxStrings;
	inboxTools: InboxToolStrings;
	knowledgePages: KnowledgeStrings;
	deploymentPages: DeploymentStrings;
	privacyPages: PrivacyStrings;
}
