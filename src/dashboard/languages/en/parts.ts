/** Small components that several pages share. */
export const parts = {
	all: 'All',
	name: 'Name',
	value: 'Value',
	addRow: 'Add a row',
	removeRow: 'Remove row {row}',
	cellOfRow: '{column}, row {row}',
	secretOnce: 'It is shown only now. Store it where your program reads its secrets.',
	secretKept: 'I have stored it',
	showMore: 'Show more',
	onlyNewest: 'Only the newest {n} are listed here.',
	refresh: 'Refresh',
	typeToConfirm: 'To confirm, type {text}',
};
