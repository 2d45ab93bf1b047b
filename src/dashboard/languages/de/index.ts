import type { Strings } from '../strings.ts';
import { access } from './access.ts';
import { assistants } from './assistants.ts';
import { cannedReplies } from './canned-replies.ts';
import { costs } from './costs.ts';
import { deployments } from './deployments.ts';
import { errors } from './errors.ts';
import { inbox } from './inbox.ts';
import { inboxTools } from './inbox-tools.ts';
import { knowledge } from './knowledge.ts';
import { overview } from './overview.ts';
import { parts } from './parts.ts';
import { privacy } from './privacy.ts';
import { shell } from './shell.ts';
import { start } from './start.ts';
import { tools } from './tools.ts';
import { eventNames, webhooks } from './webhooks.ts';

const de: Strings = {
	...shell,
	parts,
	errors,
	accessPages: access,
	startPage: start,
	assistantPages: assistants,
	costTexts: costs,
	overviewPage: overview,
	cannedReplyPages: cannedReplies,
	inboxPages: inbox,
	inboxTools,
	knowledgePages: knowledge,
	deploymentPages: deployments,
	toolPages: tools,
	webhookPages: webhooks,
	privacyPages: privacy,
	eventNames,
};
export default de;
