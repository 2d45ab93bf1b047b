import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHRASES } from '../../src/extractive/composing/phrases.ts';
import { courtesyOf, type SmallTalk } from '../../src/extractive/question/small-talk.ts';
import type { SpokenLanguage } from '../../src/extractive/spoken-language.ts';
import { citedIndexes } from '../../src/models/index.ts';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

const LINES: Record<SpokenLanguage, Partial<Record<SmallTalk, string[]>>> = {
	en: {
		greeting: ['Hello!', 'hi there', 'Good morning'],
		thanks: ['Thanks!', 'thank you very much', 'ok, thanks'],
		farewell: ['Bye!'],
		identity: ['Who are you?', 'are you a robot', "What's your name?", 'Am I talking to a real person?'],
		human: ['Can I talk to a human?', 'can i speak to a person please', 'I want to talk to someone', 'human please'],
		rude: ['You are useless', 'stupid bot!', 'fuck off', 'shut up', 'this is shit'],
	},
	de: {
		greeting: ['Guten Tag!', 'Hallo zusammen'],
		thanks: ['Vielen Dank!', 'danke schön'],
		farewell: ['Auf Wiedersehen'],
		identity: ['Wer bist du?', 'Bist du ein Roboter?', 'Sind Sie ein Mensch?', 'Wie heißt du?'],
		human: ['Kann ich mit einem Menschen sprechen?', 'Ich möchte bitte mit einem Mitarbeiter sprechen'],
		rude: ['Du bist so dumm', 'Halt die Klappe', 'so ein Mist'],
	},
	fr: {
		greeting: ['Bonjour !', 'Salut'],
		thanks: ['Merci beaucoup', "D'accord, merci"],
		farewell: ['Au revoir'],
		identity: ['Qui êtes-vous ?', 'Es-tu un robot ?', "Comment t'appelles-tu ?"],
		human: ['Puis-je parler à un humain ?', "Je voudrais parler à quelqu'un, s'il vous plaît"],
		rude: ['Tu es nul', 'Ta gueule', 'merde'],
	},
	es: {
		greeting: ['¡Hola!', 'Buenos días'],
		thanks: ['Muchas gracias'],
		farewell: ['Hasta luego'],
		identity: ['¿Quién eres?', '¿Eres un robot?', '¿Cómo te llamas?'],
		human: ['¿Puedo hablar con una persona?', 'Quiero hablar con un agente, por favor'],
		rude: ['Eres idiota', 'vete a la mierda'],
	},
	nl: {
		greeting: ['Goedemorgen', 'Hoi!'],
		thanks: ['Dank je wel', 'bedankt'],
		farewell: ['Tot ziens'],
		identity: ['Wie ben je?', 'Ben je een robot?', 'Bent u een mens?'],
		human: ['Kan ik met een medewerker praten?', 'Ik wil graag iemand spreken'],
		rude: ['Wat een waardeloos ding', 'hou je mond'],
	},
	pt: {
		greeting: ['Bom dia!', 'Olá'],
		thanks: ['Muito obrigada'],
		farewell: ['Até logo'],
		identity: ['Quem é você?', 'Você é um robô?', 'Qual é o seu nome?'],
		human: ['Posso falar com uma pessoa?', 'Quero falar com um atendente, por favor'],
		rude: ['Você é burro', 'cala a boca'],
	},
	it: {
		greeting: ['Buongiorno!', 'Ciao'],
		thanks: ['Grazie mille'],
		farewell: ['Arrivederci'],
		identity: ['Chi sei?', 'Sei un robot?', 'Come ti chiami?'],
		human: ['Posso parlare con un operatore?', 'Vorrei parlare con una persona, per favore'],
		rude: ['Sei stupido', 'vaffanculo'],
	},
	ja: {
		greeting: ['こんにちは'],
		thanks: ['ありがとうございます'],
		farewell: ['さようなら'],
		identity: ['あなたは誰ですか？', 'ロボットですか？'],
		human: ['担当者と話せますか？'],
		rude: ['うるさい'],
	},
	ar: {
		greeting: ['مرحبا'],
		thanks: ['شكرا جزيلا'],
		farewell: ['مع السلامة'],
		identity: ['من أنت؟', 'هل أنت روبوت؟'],
		human: ['هل يمكنني التحدث إلى شخص؟', 'أريد التحدث إلى موظف من فضلك'],
		rude: ['غبي'],
	},
};
/** What another language says in the same documents. */
const DUTCH = passage('Wij bezorgen in heel Nederland. De winkel is op maandag gesloten.');

test('replies to small talk in the language of its line, whatever the language of the documents', async () => {
	for (const [language, kinds] of Object.entries(LINES) as Array<[SpokenLanguage, (typeof LINES)['en']]>) {
		for (const [kind, lines] of Object.entries(kinds) as Array<[SmallTalk, string[]]>) {
			for (const line of lines) {
				assert.deepEqual(courtesyOf(line), { kind, language }, line);
				assert.equal(await ask(line, [DUTCH]), PHRASES[language][kind], line);
			}
		}
	}
});

test('answers a question with an insult or a courtesy before it', async () => {
	const text = passage('The warranty on all kettles is three years.');
	for (const question of ['You idiots! How long is the warranty?', 'Hello, please: how long is the damn warranty?'])
		assert.deepEqual(citedIndexes(await ask(question, [text]), [text]), [1], question);
});

test('reads words that may be a topic as a question', () => {
	for (const question of [
		'person',
		'robot vacuum',
		'answer',
		'rubbish collection',
		'mist',
		'con qué',
		'der Dom',
		'burro',
		'Can I speak to the manager of the shop?',
	])
		assert.equal(courtesyOf(question), null, question);
});
