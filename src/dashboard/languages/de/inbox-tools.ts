import type { InboxToolStrings } from '../strings.ts';

export const inboxTools: InboxToolStrings = {
	notes: 'Interne Notizen',
	notesHint: 'Besucher sehen Notizen nie.',
	addNote: 'Notiz hinzufügen',
	newNote: 'Neue Notiz',
	deleteNote: 'Notiz löschen',
	deleteNoteTitle: 'Diese Notiz löschen?',
	deleteNoteText: 'Die Notiz geht für alle im Arbeitsbereich verloren.',
	noteDeleted: 'Die Notiz wurde gelöscht.',
	suggest: 'Antwort vorschlagen',
	suggested: 'Der Vorschlag steht im Feld. Lesen Sie ihn, bevor Sie ihn senden.',
	canned: 'Textbausteine',
	noCanned: 'Kein Textbaustein beginnt so.',
	editCanned: 'Textbausteine bearbeiten',
	typing: '{names}: schreibt …',
	looking: '{names}: sieht sich das Gespräch an',
};
