export { exportConversation } from './export.ts';
export { Inbox, type InboxUser } from './inbox.ts';
export { InboxProjector } from './projector.ts';
