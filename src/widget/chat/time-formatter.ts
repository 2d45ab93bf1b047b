/**
 * Says moments in words of a language, as the visitor's country writes it: the time alone on the same day, else with its date.
 * @returns takes an ISO 8601 timestamp
 */
export function createTimeFormatter(language: string): (at: string) => string {
	const tag = navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
	const time = new Intl.DateTimeFormat(tag, { timeStyle: 'short' });
	const dateTime = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short' });
	return (at) => {
		const date = new Date(at);
		return (date.toDateString() === new Date().toDateString() ? time : dateTime).format(date);
	};
}
