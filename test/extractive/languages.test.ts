import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

/** A company fact in each language, a question that it answers, and a question that it does not answer. */
const CASES = [
	{
		language: 'de',
		text: 'Vollzeitkräfte erhalten 28 Urlaubstage im Jahr. Der Resturlaub verfällt am 31. März. Gehälter werden am 25. gezahlt.',
		question: 'Wie viel Urlaub habe ich im Jahr?',
		answer: /^(?!\*).*28 Urlaubstage.*\[1\]/,
		unknown: 'Wer ist der Geschäftsführer?',
		nothing: /keine Antwort gefunden/,
	},
	{
		language: 'fr',
		text: 'Les salariés ont droit à 28 jours de congés par an. Le salaire est versé le 25 de chaque mois.',
		question: 'Combien de jours de congés ai-je par an ?',
		answer: /^(?!\*).*28 jours de congés.*\[1\]/,
		unknown: 'Qui est le directeur général ?',
		nothing: /pas trouvé de réponse/,
	},
	{
		language: 'es',
		text: 'Los empleados tienen 28 días de vacaciones al año. El sueldo se paga el día 25 de cada mes.',
		question: '¿Cuántas vacaciones tengo al año?',
		answer: /^(?!\*).*28 días de vacaciones.*\[1\]/,
		unknown: '¿Quién es el director general?',
		nothing: /No he encontrado una respuesta/,
	},
	{
		language: 'nl',
		text: 'Werknemers krijgen 28 vakantiedagen per jaar. Het salaris wordt op de 25e van de maand betaald.',
		question: 'Hoeveel vakantiedagen heb ik?',
		answer: /^(?!\*).*28 vakantiedagen.*\[1\]/,
		unknown: 'Wie is de algemeen directeur?',
		nothing: /geen antwoord gevonden/,
	},
	{
		language: 'pt',
		text: 'Os funcionários têm 28 dias de férias por ano. O salário é pago no dia 25 de cada mês.',
		question: 'Quantos dias de férias eu tenho?',
		answer: /^(?!\*).*28 dias de férias.*\[1\]/,
		unknown: 'Quem é o diretor-geral?',
		nothing: /Não encontrei uma resposta/,
	},
	{
		language: 'it',
		text: 'I dipendenti hanno 28 giorni di ferie all’anno. Lo stipendio viene pagato il 25 di ogni mese.',
		question: 'Quanti giorni di ferie ho?',
		answer: /^(?!\*).*28 giorni di ferie.*\[1\]/,
		unknown: 'Chi è il direttore generale?',
		nothing: /Non ho trovato una risposta/,
	},
	{
		language: 'ja',
		text: '正社員の有給休暇は年間28日です。給与は毎月25日に支払われます。',
		question: '有給休暇は何日ですか？',
		answer: /^(?!「).*28日.*\[1\]/,
		unknown: '社長は誰ですか？',
		nothing: /見つかりませんでした/,
	},
	{
		language: 'ar',
		text: 'يحصل الموظفون على 28 يومًا من الإجازة السنوية. يُدفع الراتب في الخامس والعشرين من كل شهر.',
		question: 'كم عدد أيام الإجازة السنوية؟',
		answer: /^(?!\*).*28 يومًا من الإجازة.*\[1\]/,
		unknown: 'من هو المدير العام؟',
		nothing: /لم أجد إجابة/,
	},
];

for (const { language, text, question, answer, unknown, nothing } of CASES) {
	test(`answers a question in ${language} in ${language}, also when it finds nothing`, async () => {
		const passages = [passage(text, { page: 2 })];
		assert.match(await ask(question, passages), answer);
		assert.match(await ask(unknown, passages), nothing);
		assert.match(await ask(unknown, [], { confidence: 0 }), nothing);
	});
}

test('answers a word of jargon in the language of the documents', async () => {
	const passages = [passage('Der VPN-Zugang wird über das Portal beantragt und nach einem Tag freigeschaltet.')];
	assert.match(await ask('VPN-Zugang', passages), /^Der VPN-Zugang wird/);
	assert.match(await ask('VPN-Zugang', passages, { confidence: 0 }), /keine Antwort gefunden/);
	const english = [passage('The coronavirus may travel in packages, but it does not survive there for long.')];
	assert.match(await ask('coronavirus packages', english), /^The coronavirus may travel in packages/);
	assert.match(await ask('coronavirus packages', english, { confidence: 0 }), /could not find an answer/);
});

test('answers a single word in German after questions in German', async () => {
	const history = [{ role: 'user' as const, content: 'Wie kann ich meine Bestellung stornieren?' }];
	assert.match(await ask('Xyzzy?', [], { history, confidence: 0 }), /keine Antwort gefunden/);
});

test('answers from documents in a language without phrases, and refuses in English', async () => {
	const passages = [passage('Heltidsanställda har 28 dagars semester per år. Lönen betalas den 25:e varje månad.')];
	assert.match(await ask('Hur många dagars semester har jag?', passages), /^Heltidsanställda har 28 dagars semester/);
	assert.match(await ask('Vem är chefen?', passages, { confidence: 0 }), /could not find an answer/);
});
