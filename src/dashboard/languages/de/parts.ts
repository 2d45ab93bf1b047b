import type { PartStrings } from '../strings.ts';

export const parts: PartStrings = {
	all: 'Alle',
	name: 'Name',
	value: 'Wert',
	addRow: 'Zeile hinzufügen',
	removeRow: 'Zeile {row} entfernen',
	cellOfRow: '{column}, Zeile {row}',
	secretOnce: 'Es wird nur jetzt gezeigt. Legen Sie es dort ab, wo Ihr Programm seine Geheimnisse liest.',
	secretKept: 'Ich habe es abgelegt',
	onlyNewest: 'Hier stehen nur die neuesten {n}.',
	showMore: 'Mehr zeigen',
	refresh: 'Neu laden',
	typeToConfirm: 'Zur Bestätigung {text} eingeben',
};
