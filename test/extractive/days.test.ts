import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCalendar } from '../../src/extractive/calendar/calendar-terms.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

const HOURS = `Monday–Friday: 9:00–17:00
Saturday: 10:00–14:00
Sunday: closed
24 December: 9:00–12:00
Public holidays: closed`;
const PARKING = passage(
	'Parking costs £2 per hour. The car park closes one hour after the museum. Dogs are welcome in the garden.',
	{ index: 2, heading_path: ['Parking'] },
);
const hours = (text: string, heading = 'Opening hours') => passage(text, { heading_path: [heading] });
const at = (iso: string, time_zone: string) => ({ moment: { asked_at: Date.parse(iso), time_zone } });
/** A Monday. */
const MONDAY = '2026-11-23T11:20:00Z';
const answer = async (question: string, iso: string, zone = 'Europe/London') =>
	(await ask(question, [hours(HOURS), PARKING], at(iso, zone))).replace(/ \[1\]$/, '');

test('answers about days with the hours of that day in the zone of the deployment', async () => {
	const expected: Array<[question: string, answer: string, iso?: string, zone?: string]> = [
		['Are you open today?', 'Monday – Opening hours, Monday–Friday: 9:00–17:00'],
		['Are you open now?', 'Monday 11:20 – Opening hours, Monday–Friday: 9:00–17:00'],
		['Are you open tomorrow?', 'Tuesday – Opening hours, Monday–Friday: 9:00–17:00'],
		['When do you close today?', 'Monday – Opening hours, Monday–Friday: 9:00–17:00'],
		['When do you close on Monday?', 'Opening hours, Monday–Friday: 9:00–17:00'],
		['Are you open on Sunday?', 'Opening hours, Sunday: closed'],
		['When do you open on Saturdays?', 'Opening hours, Saturday: 10:00–14:00'],
		// It is Monday already in Tokyo.
		['Are you open today?', 'Monday – Opening hours, Monday–Friday: 9:00–17:00', '2026-11-22T23:30:00Z', 'Asia/Tokyo'],
		['Are you open today?', 'Sunday – Opening hours: closed', '2026-11-22T23:30:00Z', 'America/New_York'],
	];
	for (const [question, text, iso = MONDAY, zone] of expected)
		assert.equal(await answer(question, iso, zone), text, question);
});

test('names the zone that it assumed where the operator has set none', async () => {
	assert.equal(
		await answer('Are you open today?', MONDAY, 'UTC'),
		'Monday (UTC) – Opening hours, Monday–Friday: 9:00–17:00',
	);
	const bare = [passage('Monday: 9:00–17:00\nTuesday: 10:00–18:00'), PARKING];
	assert.match(await ask('Are you open today?', bare, at(MONDAY, 'UTC')), /^Monday \(UTC\): 9:00–17:00 /);
});

test('prefers exceptions to the weekly hours', async () => {
	const expected: Array<[question: string, answer: string, iso?: string]> = [
		['Are you open today?', 'Thursday 24 December – Opening hours, 24 December: 9:00–12:00', '2026-12-24T08:00:00Z'],
		['Are you open tomorrow?', 'Friday 25 December – Opening hours, Public holidays: closed', '2026-12-24T08:00:00Z'],
		[
			'When do you close on Thursday?',
			'Thursday 24 December – Opening hours, 24 December: 9:00–12:00',
			'2026-12-22T08:00:00Z',
		],
		['Are you open on 24 December?', 'Thursday 24 December – Opening hours, 24 December: 9:00–12:00'],
		['Are you open on Christmas Eve?', 'Opening hours, 24 December: 9:00–12:00'],
		['Are you open on Christmas Day?', 'Opening hours, Public holidays: closed'],
		['Are you open on Easter Monday?', 'Opening hours, Public holidays: closed'],
		['Are you open on public holidays?', 'Opening hours, Public holidays: closed'],
	];
	for (const [question, text, iso = MONDAY] of expected) assert.equal(await answer(question, iso), text, question);
	const daily = [hours('The museum is open daily from 10 am to 6 pm. It is closed on Mondays.'), PARKING];
	assert.match(await ask('Are you open today?', daily, at(MONDAY, 'Europe/London')), /^Monday – .*closed on Mondays/);
});

test('takes all times of a day from a table, and the asked one', async () => {
	const table = hours(`| Day | Open | Close |
|---|---|---|
| Mon | 9:00 | 17:00 |
| Tue–Thu | 9:00 | 18:00 |
| Sat/Sun | closed | closed |`);
	const expected: Array<[question: string, answer: string]> = [
		['Are you open today?', 'Monday – Mon – Open: 9:00; Close: 17:00 [1]'],
		['When do you close today?', 'Monday – Mon, Close: 17:00 [1]'],
		['When do you open tomorrow?', 'Tuesday – Tue–Thu, Open: 9:00 [1]'],
		['Are you open on Sunday?', 'Sat/Sun – Open: closed; Close: closed [1]'],
	];
	for (const [question, text] of expected)
		assert.equal(await ask(question, [table, PARKING], at(MONDAY, 'Europe/London')), text, question);
});

test('gives the hours of all days, or of those that the question names', async () => {
	assert.match(
		await answer('What are your opening hours?', MONDAY),
		/^- Monday–Friday: 9:00–17:00\n- Saturday: .*\n- Sunday: closed$/,
	);
	assert.match(await answer('Are you open at the weekend?', MONDAY), /^- Saturday: 10:00–14:00\n- Sunday: closed$/);
});

test('a follow-up replaces the day of the question before', async () => {
	const history = (question: string) => [
		{ role: 'user', content: question } as const,
		{ role: 'assistant', content: 'Monday – Monday–Friday: 9:00–17:00 [1]' } as const,
	];
	const more = at(MONDAY, 'Europe/London');
	const passages = [hours(HOURS), PARKING];
	const sunday = await ask('And on Sunday?', passages, { ...more, history: history('Are you open today?') });
	assert.equal(sunday, 'Opening hours, Sunday: closed [1]');
	const tomorrow = await ask('And tomorrow?', passages, { ...more, history: history('Are you open on Saturday?') });
	assert.equal(tomorrow, 'Tuesday – Opening hours, Monday–Friday: 9:00–17:00 [1]');
});

test('understands days in the languages of the widget', async () => {
	const GERMAN = 'Montag bis Freitag: 9–17 Uhr\nSamstag: 10–14 Uhr\n24.12.: geschlossen\nFeiertage: geschlossen';
	const expected: Array<[question: string, heading: string, text: string, prose: string, begins: string]> = [
		[
			'Habt ihr heute offen?',
			'Öffnungszeiten',
			GERMAN,
			'Das Museum ist eines der ältesten der Stadt und hat einen Garten.',
			'Montag – Öffnungszeiten, Montag bis Freitag: 9–17 Uhr',
		],
		[
			'Ist an Heiligabend geöffnet?',
			'Öffnungszeiten',
			GERMAN,
			'Das Museum ist eines der ältesten der Stadt und hat einen Garten.',
			'Öffnungszeiten, 24.12.: geschlossen',
		],
		[
			"Êtes-vous ouverts aujourd'hui ?",
			"Horaires d'ouverture",
			'Du lundi au vendredi : 9 h à 17 h\nSamedi : 10 h à 14 h',
			"Le musée est l'un des plus anciens de la ville et il a un jardin.",
			'Lundi – ',
		],
		[
			'¿Están abiertos hoy?',
			'Horario',
			'Lunes a viernes: 9:00–17:00\nSábado: cerrado',
			'El museo es uno de los más antiguos de la ciudad y tiene un jardín.',
			'Lunes – ',
		],
		[
			'Zijn jullie vandaag open?',
			'Openingstijden',
			'Maandag t/m vrijdag: 9.00–17.00 uur\nZaterdag: gesloten',
			'Het museum is een van de oudste van de stad en heeft een tuin.',
			'Maandag – ',
		],
		[
			'Estão abertos hoje?',
			'Horário',
			'Segunda a sexta: 9h00–17h00\nSábado: fechado',
			'O museu é um dos mais antigos da cidade e tem um jardim.',
			'Segunda-feira – ',
		],
		[
			'Siete aperti oggi?',
			'Orari',
			'Da lunedì a venerdì: 9:00–17:00\nSabato: chiuso',
			'Il museo è uno dei più antichi della città e ha un giardino.',
			'Lunedì – ',
		],
		[
			'今日は営業していますか？',
			'営業時間',
			'月曜日から金曜日：9:00～17:00\n土曜日：定休日',
			'この博物館は市内で最も古いものの一つです。',
			'月曜日 – ',
		],
		[
			'هل أنتم مفتوحون اليوم؟',
			'مواعيد العمل',
			'الاثنين إلى الجمعة: 9:00–17:00\nالسبت: مغلق',
			'المتحف من أقدم المتاحف في المدينة وفيه حديقة.',
			'الاثنين – ',
		],
	];
	for (const [question, heading, text, prose, begins] of expected) {
		const passages = [passage(prose, { index: 2 }), hours(text, heading)];
		const reply = await ask(question, passages, at(MONDAY, 'Europe/London'));
		assert.ok(reply.startsWith(begins), `${question} ${reply}`);
	}
});

test('leaves today a word like any other without the moment of the question', async () => {
	assert.doesNotMatch(
		await ask('Are you open today?', [hours(HOURS), PARKING]),
		/^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day –/,
	);
});

test('reads the days of a text', () => {
	const days: Array<[text: string, language: string | null, terms: string[]]> = [
		['Monday to Sunday', 'en', ['-W-1', '-W-2', '-W-3', '-W-4', '-W-5', '-W-6', '-W-7']],
		['Samstag bis Montag', 'de', ['-W-6', '-W-7', '-W-1']],
		['Mo/Mi/Fr', 'de', ['-W-1', '-W-3', '-W-5']],
		['Sat 10–14', 'en', ['-W-6']],
		['It sat on the sun.', 'en', []],
		['So 20 Euro', 'de', []],
		['weekdays', 'en', ['-W-1', '-W-2', '-W-3', '-W-4', '-W-5']],
		['a daily limit of 5 GB', 'en', []],
		['Lunedì', null, ['-W-1']],
		['closed on Good Friday', 'en', ['-H-good-friday']],
		['24–26 December', 'en', ['--12-24', '--12-25', '--12-26']],
		['31 December to 2 January', 'en', ['--12-31', '--01-01', '--01-02']],
		['December 24, 2026', 'en', ['2026-12-24']],
		['le 1er janvier', 'fr', ['--01-01']],
		['24 de diciembre de 2026', 'es', ['2026-12-24']],
		['am 24.12.2026 und am 31.12.', 'de', ['2026-12-24', '--12-31']],
		['03/04/2026', 'en', []],
		['31 February', 'en', []],
		['costs 2.5 kg', 'en', []],
		['Weihnachten', 'de', ['-H-christmas-eve', '-H-christmas-day', '-H-boxing-day']],
		['April–September', 'en', ['--04-01/--09-30']],
		['November 2026 to February 2027', 'en', ['2026-11-01/2027-02-28']],
		['1 April to 30 September', 'en', ['--04-01/--09-30']],
		['Oktober bis März', 'de', ['--10-01/--03-31']],
		['de abril a setembro', 'pt', ['--04-01/--09-30']],
		['24.–26.12.', 'de', ['--12-24', '--12-25', '--12-26']],
		['am 24.12 geschlossen', 'de', ['--12-24']],
		['24.12', 'de', ['--12-24']],
		['costs 24.12 today', 'en', []],
		['le 24/12', 'fr', ['--12-24']],
		['24/12', 'en', ['--12-24']],
		['12/24', 'en', ['--12-24']],
		['05/06', 'en', []],
		['open 24/7', 'fr', []],
		['12月29日から休み', 'ja', ['--12-29']],
		['平日10:00～', 'ja', ['-W-1', '-W-2', '-W-3', '-W-4', '-W-5']],
		['毎週月曜日', 'ja', ['-W-1']],
		['a segunda vez', 'pt', []],
		['na segunda loja', 'pt', []],
		['fechado na segunda', 'pt', ['-W-1']],
		['segunda, quarta e sexta', 'pt', ['-W-1', '-W-3', '-W-5']],
		['quinta 9h–17h', 'pt', ['-W-4']],
		['Sat, Sun & Bank Holidays', 'en', ['-W-6', '-W-7', '-H-public']],
		['Sa, So und Feiertage', 'de', ['-W-6', '-W-7', '-H-public']],
		['sam., dim. et jours fériés', 'fr', ['-W-6', '-W-7', '-H-public']],
		['Sonn- und Feiertage', 'de', ['-W-7', '-H-public']],
		['zon- en feestdagen', 'nl', ['-W-7', '-H-public']],
		['Bank holiday Mondays', 'en', ['-H-public']],
		['الاثنين إلى الأربعاء', 'ar', ['-W-1', '-W-2', '-W-3']],
		['الاثنين حتى الأربعاء', 'ar', ['-W-1', '-W-2', '-W-3']],
	];
	for (const [text, language, terms] of days) assert.deepEqual(readCalendar(text, language).terms, terms, text);
});

test('reads a text of many days in linear time', async () => {
	const spent = await cpuMilliseconds(async () => {
		readCalendar('mon tue '.repeat(5_000), 'en');
		readCalendar('24, '.repeat(10_000), 'en');
	});
	assert.ok(spent < 1_000, `${spent} ms`);
});
