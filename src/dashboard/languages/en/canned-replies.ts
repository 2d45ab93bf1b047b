/** The texts of the page Canned replies. */
export const cannedReplies = {
	title: 'Canned replies',
	purpose: 'Texts that all people of the workspace can insert into a reply.',
	create: 'New canned reply',
	none: 'No canned replies yet',
	noneText: 'Write an answer once that you give often, and insert it by its shortcut.',
	shortcut: 'Shortcut',
	shortcutHint: 'What a person types after the slash. One word, for example “hours”.',
	content: 'Text',
	changed: 'Changed',
	created: 'The canned reply was created.',
	remove: 'Delete this canned reply',
	removeText: 'Replies that were sent with it stay.',
	removeTitle: 'Delete this canned reply?',
	removeConfirm: 'The text of “/{shortcut}” is lost for all people of the workspace.',
	removed: 'The canned reply was deleted.',
};
