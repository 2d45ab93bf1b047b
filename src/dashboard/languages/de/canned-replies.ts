import type { CannedReplyStrings } from '../strings.ts';

export const cannedReplies: CannedReplyStrings = {
	title: 'Textbausteine',
	purpose: 'Texte, die alle im Arbeitsbereich in eine Antwort einfügen können.',
	create: 'Neuer Textbaustein',
	none: 'Noch keine Textbausteine',
	noneText: 'Schreiben Sie einmal auf, was Sie oft antworten, und fügen Sie es mit seinem Kürzel ein.',
	shortcut: 'Kürzel',
	shortcutHint: 'Was man nach dem Schrägstrich tippt. Ein Wort, zum Beispiel „zeiten“.',
	content: 'Text',
	changed: 'Geändert',
	created: 'Der Textbaustein wurde angelegt.',
	remove: 'Diesen Textbaustein löschen',
	removeText: 'Antworten, die mit ihm gesendet wurden, bleiben.',
	removeTitle: 'Diesen Textbaustein löschen?',
	removeConfirm: 'Der Text von „/{shortcut}“ geht für alle im Arbeitsbereich verloren.',
	removed: 'Der Textbaustein wurde gelöscht.',
};
