/**
 * Formats times in a language, in the visitor's regional format: the time on the same day, otherwise date and time.
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
