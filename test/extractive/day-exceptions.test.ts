import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

/** A Monday. */
const MONDAY = '2026-11-23T11:20:00Z';
const PARKING = passage('Parking costs £2 per hour. Dogs are welcome in the garden.', {
	index: 2,
	heading_path: ['Parking'],
});
const WEEK = 'Monday–Friday: 9:00–17:00\nSaturday: 10:00–14:00\nSunday: closed';

interface Case {
	text: string;
	question: string;
	answer: string;
	at?: string;
	zone?: string;
	/** The heading above the hours. */
	heading?: string;
}

async function check(cases: readonly Case[]): Promise<void> {
	const wrong: string[] = [];
	for (const { text, question, answer, at = MONDAY, zone = 'Europe/London', heading = 'Opening hours' } of cases) {
		const passages = [passage(text, { heading_path: [heading] }), PARKING];
		const reply = await ask(question, passages, { moment: { asked_at: Date.parse(at), time_zone: zone } });
		const shown = reply.replaceAll(' [1]', '').replaceAll('Opening hours, ', '');
		if (shown !== answer) wrong.push(`${question} (${text.slice(-60)})\n  is  ${shown}\n  not ${answer}`);
	}
	assert.equal(wrong.join('\n'), '');
}

test('takes no line for an exception that gives no hours', async () => {
	const weekly = 'Monday – Monday–Friday: 9:00–17:00';
	await check([
		{ text: `${WEEK}\nLast updated: 23 November 2026`, question: 'Are you open today?', answer: weekly },
		{ text: `Last updated: 23 November 2026\n${WEEK}`, question: 'Are you open today?', answer: weekly },
		{
			text: `# Opening hours\n\n${WEEK}\n\n# News\n\nConcert: 23 November 2026, 18:00`,
			question: 'Are you open today?',
			answer: weekly,
			heading: 'Museum',
		},
		{
			text: `${WEEK}\nConcert: 23 November 2026, 18:00`,
			question: 'Are you open today?',
			answer: `${weekly}\n\nConcert: 23 November 2026, 18:00`,
		},
		{ text: `${WEEK}\nAs of: 23.11.2026`, question: 'Are you open today?', answer: weekly },
		{
			text: `${WEEK}\n23 November 2026: 9:00–12:00`,
			question: 'Are you open today?',
			answer: 'Monday 23 November – 23 November 2026: 9:00–12:00',
		},
	]);
});

test('takes no closing of another date for the weekly closing day', async () => {
	await check([
		{
			text: 'Monday–Friday: 9:00–17:00\nThursday 24 December 2026: closed',
			question: 'Are you open on Thursday?',
			answer: 'Monday–Friday: 9:00–17:00',
		},
		{
			text: 'Monday–Friday: 9:00–17:00\nThursday 24 December 2026: closed',
			question: 'Are you open on Thursdays?',
			answer: 'Monday–Friday: 9:00–17:00',
		},
		{
			text: 'Monday–Friday: 9:00–17:00\nBank holiday Mondays: closed',
			question: 'Are you open today?',
			answer: 'Monday – Monday–Friday: 9:00–17:00',
		},
		{
			text: 'Monday–Friday: 9:00–17:00\nBank holiday Mondays: closed',
			question: 'Are you open on 31 August?',
			at: '2026-08-01T10:00:00Z',
			answer: 'Monday 31 August – Bank holiday Mondays: closed',
		},
		{
			text: 'Monday–Friday: 9:00–17:00\nSat, Sun & Bank Holidays: 10:00–16:00',
			question: 'Are you open on Sunday?',
			answer: 'Sat, Sun & Bank Holidays: 10:00–16:00',
		},
	]);
});

test('knows the public holidays of the country of the zone', async () => {
	const text = `${WEEK}\nPublic holidays: closed`;
	const closed = 'Public holidays: closed';
	const both = (day: string) => `${day} – Monday–Friday: 9:00–17:00\n\n${closed}`;
	await check([
		// Boxing Day.
		{ text, question: 'Are you open today?', at: '2025-12-26T10:00:00Z', answer: `Friday 26 December – ${closed}` },
		{
			text,
			question: 'Are you open today?',
			at: '2025-12-26T10:00:00Z',
			zone: 'Europe/Madrid',
			answer: both('Friday'),
		},
		{
			text,
			question: 'Are you open today?',
			at: '2025-12-26T10:00:00Z',
			zone: 'Europe/Lisbon',
			answer: 'Friday – Monday–Friday: 9:00–17:00',
		},
		{
			text,
			question: 'Are you open today?',
			at: '2026-07-14T10:00:00Z',
			zone: 'Europe/Paris',
			answer: `Tuesday 14 July – ${closed}`,
		},
		{
			text,
			question: 'Are you open today?',
			at: '2026-11-26T18:00:00Z',
			zone: 'US/Eastern',
			answer: `Thursday 26 November – ${closed}`,
		},
		// 26 December 2026 is a Saturday.
		{ text, question: 'Are you open today?', at: '2026-12-28T10:00:00Z', answer: both('Monday') },
		{
			text,
			question: 'Are you open today?',
			at: '2026-05-01T10:00:00Z',
			zone: 'Etc/UTC',
			answer: both('Friday (UTC)'),
		},
	]);
});

test('keeps the weekly hours on a holiday that is not public', async () => {
	const text = `${WEEK}\nPublic holidays: closed`;
	await check([
		{ text, question: "Are you open on New Year's Eve?", answer: 'Monday–Friday: 9:00–17:00' },
		{ text, question: 'Are you open on Good Friday?', answer: 'Public holidays: closed' },
		{
			text,
			question: 'Are you open on Boxing Day?',
			zone: 'Europe/Madrid',
			at: '2025-12-01T10:00:00Z',
			answer: 'Monday–Friday: 9:00–17:00\n\nPublic holidays: closed',
		},
	]);
});

test('gives the hours of the season', async () => {
	const seasons = 'April–September: 9:00–18:00\nOctober–March: 10:00–16:00';
	await check([
		{ text: seasons, question: 'Are you open today?', answer: 'October–March: 10:00–16:00' },
		{
			text: seasons,
			question: 'Are you open today?',
			at: '2026-06-01T10:00:00Z',
			answer: 'April–September: 9:00–18:00',
		},
		{
			text: '# Summer (1 April–30 September)\n\nMonday–Friday: 9:00–18:00\n\n# Winter (1 October–31 March)\n\nMonday–Friday: 10:00–16:00',
			question: 'Are you open today?',
			answer: 'Monday – Winter (1 October–31 March), Monday–Friday: 10:00–16:00',
		},
		{
			text: `${WEEK}\nJune–August: 9:00–20:00`,
			question: 'Are you open today?',
			at: '2026-07-06T10:00:00Z',
			answer: 'Monday – Monday–Friday: 9:00–17:00\n\nJune–August: 9:00–20:00',
		},
	]);
});

test('answers for each day that is asked, and for none of an open range', async () => {
	const text = `${WEEK}\n24 December: 9:00–12:00\nPublic holidays: closed`;
	const weekly = 'Monday–Friday: 9:00–17:00';
	await check([
		{
			text,
			question: 'Are you open on 24 and 25 December?',
			answer: 'Thursday 24 December – 24 December: 9:00–12:00\n\nFriday 25 December – Public holidays: closed',
		},
		{
			text,
			question: 'Are you open today and tomorrow?',
			answer: `Monday – ${weekly}\n\nTuesday – ${weekly}`,
		},
		{
			text,
			question: 'Are you open tomorrow and on Saturday?',
			answer: `Tuesday – ${weekly}\n\nSaturday: 10:00–14:00`,
		},
		{ text, question: 'Are you open next Monday?', answer: weekly },
	]);
	const reply = await ask(
		'Are you open between Christmas and New Year?',
		[passage(text, { heading_path: ['Opening hours'] })],
		{ moment: { asked_at: Date.parse(MONDAY), time_zone: 'Europe/London' } },
	);
	assert.doesNotMatch(reply, /^(?:[^\n]*)Public holidays: closed(?: \[1\])?$/);
});

test('gives the hours of the day before after midnight', async () => {
	const text = 'Thursday: 18:00–23:00\nFriday: 18:00–02:00\nSaturday: 20:00–23:00\nSunday: closed';
	await check([
		{ text, question: 'Are you open now?', at: '2026-11-28T00:30:00Z', answer: 'Friday: 18:00–02:00' },
		{
			text,
			question: 'Are you open now?',
			at: '2026-11-28T03:00:00Z',
			answer: 'Saturday 03:00 – Opening hours: 20:00–23:00',
		},
		{
			text: 'Friday: 18:00–02:00\nMonday–Thursday: 18:00–23:00',
			question: 'Are you open now?',
			at: '2026-11-28T00:30:00Z',
			answer: 'Friday: 18:00–02:00',
		},
		{
			text,
			question: 'Are you open now?',
			at: '2026-11-27T00:30:00Z',
			answer: 'Friday 00:30 – Opening hours: 18:00–02:00',
		},
	]);
});

test('does not read morning as tomorrow', async () => {
	const cases: Array<[question: string, text: string, heading: string, answer: RegExp]> = [
		['Habt ihr Samstag Morgen offen?', 'Montag bis Freitag: 9–17 Uhr\nSamstag: 10–14 Uhr', 'Öffnungszeiten', /10–14/],
		[
			'Zijn jullie zaterdag morgen open?',
			'Maandag t/m vrijdag: 9.00–17.00 uur\nZaterdag: gesloten',
			'Openingstijden',
			/gesloten/,
		],
		[
			'Goede morgen, zijn jullie vandaag open?',
			'Maandag: gesloten\nDinsdag: 9.00–17.00 uur',
			'Openingstijden',
			/^Maandag.*gesloten/,
		],
		['¿Están abiertos esta mañana?', 'Lunes: cerrado\nMartes: 9:00–17:00', 'Horario', /^Lunes.*cerrado/],
	];
	for (const [question, text, heading, expected] of cases) {
		const moment = { asked_at: Date.parse(MONDAY), time_zone: 'Europe/London' };
		const reply = await ask(question, [passage(text, { heading_path: [heading] })], { moment });
		assert.match(reply, expected, question);
	}
});
