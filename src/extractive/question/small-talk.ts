import { analyse } from '../../text/index.ts';
import type { SpokenLanguage } from '../spoken-language.ts';

/** The kind of a message that asks nothing of the documents: `identity` asks who replies, `human` asks for a person. */
export type SmallTalk = 'greeting' | 'thanks' | 'farewell' | 'identity' | 'human';

/** A message that consists of small talk only. */
export interface Courtesy {
	kind: SmallTalk;
	language: SpokenLanguage;
}

/** `filler` has words that accompany a courtesy and mean nothing alone. */
const COURTESIES: Record<SpokenLanguage, Record<SmallTalk | 'filler', string>> = {
	en: {
		greeting:
			'hi|hello|hey|hiya|howdy|greetings|good morning|good afternoon|good evening|good day|how are you|nice to meet you',
		thanks:
			'thanks|thank you|thx|ty|cheers|thanks a lot|many thanks|thank you very much|thank you so much|much appreciated|great help|that helps|that helped|perfect|very helpful|that was helpful',
		farewell: 'bye|goodbye|bye bye|see you|see you later|have a nice day|have a great day|good night',
		identity:
			'who are you|what are you|who am i talking to|who is this|are you a robot|are you a bot|are you a chatbot|are you human|are you a human|are you a real person|are you a person|are you real|are you an ai|is this a bot|is this a robot|am i talking to a robot|am i talking to a bot|am i talking to a human|what is your name|what s your name',
		human:
			'can i talk to a human|can i speak to a human|can i talk to a person|can i speak to a person|can i talk to someone|can i speak to someone|can i speak with someone|can i talk to a real person|can i speak to a real person|i want to talk to a human|i want to speak to a human|i want to talk to a person|i want to speak to a person|i want to talk to someone|i want to speak to someone|i would like to speak to someone|i would like to talk to a person|i d like to speak to a person|i d like to talk to a human|talk to a human|speak to a human|human please|a human please|can i speak to an agent|talk to an agent|speak to an agent|i need a human|let me talk to a human|connect me to a human|connect me with a person',
		filler: 'there|all|everyone|team|bot|ok|okay|great|and|you|well|a lot|for your help|for the help|so much|very much',
	},
	de: {
		greeting: 'hallo|hi|hey|moin|servus|guten tag|guten morgen|guten abend|grüß gott|grüezi',
		thanks: 'danke|danke schön|dankeschön|vielen dank|besten dank|danke sehr|herzlichen dank|super',
		farewell: 'tschüss|tschüs|auf wiedersehen|bis bald|schönen tag|schönen tag noch',
		identity:
			'wer bist du|wer sind sie|was bist du|was sind sie|bist du ein roboter|sind sie ein roboter|bist du ein bot|sind sie ein bot|bist du ein mensch|sind sie ein mensch|bist du eine ki|sind sie eine ki|spreche ich mit einem roboter|spreche ich mit einem menschen|wie heißt du|wie heißen sie',
		human:
			'kann ich mit einem menschen sprechen|kann ich mit einem mitarbeiter sprechen|kann ich mit jemandem sprechen|kann ich mit einer person sprechen|ich möchte mit einem menschen sprechen|ich möchte mit einem mitarbeiter sprechen|ich möchte mit jemandem sprechen|ich will mit einem menschen sprechen|mit einem menschen sprechen|mitarbeiter bitte|einen menschen bitte',
		filler: 'zusammen|ok|okay|prima|und|für die hilfe|für ihre hilfe|für deine hilfe',
	},
	fr: {
		greeting: 'bonjour|salut|bonsoir|coucou',
		thanks: 'merci|merci beaucoup|merci bien|mille mercis|parfait',
		farewell: 'au revoir|à bientôt|bonne journée|bonne soirée|adieu',
		identity:
			"qui es tu|qui êtes vous|tu es qui|vous êtes qui|es tu un robot|êtes vous un robot|tu es un robot|vous êtes un robot|es tu humain|êtes vous humain|es tu une ia|êtes vous une ia|comment t'appelles tu|comment vous appelez vous",
		human:
			"puis je parler à un humain|puis je parler à quelqu'un|puis je parler à une personne|puis je parler à un conseiller|je veux parler à un humain|je veux parler à quelqu'un|je voudrais parler à quelqu'un|je voudrais parler à un humain|je voudrais parler à une personne|je voudrais parler à un conseiller|parler à un humain|un humain s'il vous plaît",
		filler: "ok|à tous|et|super|d'accord|pour votre aide|pour ton aide",
	},
	es: {
		greeting: 'hola|buenos días|buenas tardes|buenas noches|buenas|qué tal',
		thanks: 'gracias|muchas gracias|mil gracias|perfecto',
		farewell: 'adiós|hasta luego|hasta pronto|chao',
		identity:
			'quién eres|quién es usted|qué eres|eres un robot|es usted un robot|eres un bot|eres humano|eres humana|eres una persona|eres una ia|cómo te llamas',
		human:
			'puedo hablar con una persona|puedo hablar con un humano|puedo hablar con alguien|quiero hablar con una persona|quiero hablar con un humano|quiero hablar con alguien|quiero hablar con un agente|hablar con una persona|una persona por favor',
		filler: 'ok|vale|y|a todos|por la ayuda|por su ayuda|por tu ayuda',
	},
	nl: {
		greeting: 'hallo|hoi|hey|goedemorgen|goedemiddag|goedenavond|goedendag|dag',
		thanks: 'bedankt|dank je|dank u|dank je wel|dank u wel|dankjewel|hartelijk dank|heel erg bedankt',
		farewell: 'tot ziens|doei|doeg|tot later|fijne dag',
		identity:
			'wie ben je|wie ben jij|wie bent u|wat ben je|ben je een robot|bent u een robot|ben je een bot|ben je een mens|bent u een mens|hoe heet je',
		human:
			'kan ik met een mens praten|kan ik met een medewerker praten|kan ik met iemand praten|kan ik iemand spreken|kan ik een medewerker spreken|ik wil met een mens praten|ik wil met iemand praten|ik wil een medewerker spreken|een mens graag',
		filler: 'ok|oké|en|allemaal|voor de hulp|voor uw hulp|voor je hulp',
	},
	pt: {
		greeting: 'olá|oi|bom dia|boa tarde|boa noite|tudo bem',
		thanks: 'obrigado|obrigada|muito obrigado|muito obrigada|valeu|perfeito',
		farewell: 'tchau|adeus|até logo|até mais',
		identity:
			'quem é você|quem és tu|o que é você|você é um robô|és um robô|você é humano|você é uma pessoa|você é uma ia|qual é o seu nome',
		human:
			'posso falar com uma pessoa|posso falar com um humano|posso falar com alguém|quero falar com uma pessoa|quero falar com um humano|quero falar com alguém|quero falar com um atendente|falar com uma pessoa',
		filler: 'ok|e|a todos|pela ajuda',
	},
	it: {
		greeting: 'ciao|salve|buongiorno|buon giorno|buonasera|buona sera',
		thanks: 'grazie|grazie mille|molte grazie|tante grazie|perfetto',
		farewell: 'arrivederci|a presto|addio|buona giornata|buona serata',
		identity: "chi sei|chi è lei|cosa sei|sei un robot|sei un bot|sei umano|sei una persona|sei un'ia|come ti chiami",
		human:
			'posso parlare con una persona|posso parlare con un umano|posso parlare con qualcuno|posso parlare con un operatore|voglio parlare con una persona|voglio parlare con qualcuno|vorrei parlare con una persona|vorrei parlare con qualcuno|vorrei parlare con un operatore|parlare con una persona',
		filler: "ok|e|a tutti|per l'aiuto",
	},
	ja: {
		greeting: 'こんにちは|おはよう|おはようございます|こんばんは|はじめまして|どうも',
		thanks:
			'ありがとう|ありがとうございます|ありがとうございました|どうもありがとう|どうもありがとうございます|助かりました',
		farewell: 'さようなら|さよなら|またね|失礼します',
		identity:
			'あなたは誰ですか|あなたはロボットですか|ロボットですか|人間ですか|あなたは人間ですか|aiですか|名前は何ですか',
		human:
			'人と話したいです|人間と話したいです|担当者と話したいです|オペレーターと話したいです|人と話せますか|担当者と話せますか',
		filler: 'はい|わかりました',
	},
	ar: {
		greeting: 'مرحبا|أهلا|أهلا وسهلا|السلام عليكم|صباح الخير|مساء الخير|سلام',
		thanks: 'شكرا|شكرا جزيلا|شكرا لك|أشكرك|ألف شكر',
		farewell: 'مع السلامة|إلى اللقاء|وداعا',
		identity: 'من أنت|ما أنت|هل أنت روبوت|هل أنت إنسان|هل أنت شخص حقيقي|ما اسمك',
		human:
			'هل يمكنني التحدث إلى شخص|هل يمكنني التحدث مع شخص|أريد التحدث إلى شخص|أريد التحدث مع شخص|أريد التحدث مع إنسان|أريد التحدث إلى موظف',
		filler: 'حسنا|لك|جدا|و',
	},
};

interface Phrase {
	words: string[];
	language: SpokenLanguage;
	kind: SmallTalk | 'filler';
}

/** By first word, longest first, so that `thanks a lot` is not read as `thanks` and two other words. */
const phrases = new Map<string, Phrase[]>();
for (const [language, kinds] of Object.entries(COURTESIES) as Array<[SpokenLanguage, Record<string, string>]>) {
	for (const [kind, list] of Object.entries(kinds) as Array<[Phrase['kind'], string]>) {
		for (const text of list.split('|')) {
			const words = analyse(text, null);
			const first = words[0] as string;
			phrases.set(first, [...(phrases.get(first) ?? []), { words, language, kind }]);
		}
	}
}
for (const list of phrases.values()) list.sort((a, b) => b.words.length - a.words.length);

/** Courtesies are short. A longer message asks something. */
const MAX_COURTESY_LENGTH = 80;
/** The courtesy with the highest rank is the kind of the message: `hello, thank you, bye` is a farewell. */
const RANK: Record<Phrase['kind'], number> = { filler: 0, greeting: 1, thanks: 2, farewell: 3, identity: 4, human: 5 };

/** The courtesy of a message; null if the message has any other words. */
export function courtesyOf(message: string): Courtesy | null {
	if (message.length > MAX_COURTESY_LENGTH || message.trim() === '') return null;
	const words = analyse(message, null);
	let courtesy: Phrase | null = null;
	for (let at = 0; at < words.length; ) {
		const phrase = phrases.get(words[at] as string)?.find(({ words: own }) => own.every((w, i) => words[at + i] === w));
		if (!phrase) return null;
		if (!courtesy || RANK[phrase.kind] > RANK[courtesy.kind]) courtesy = phrase;
		at += phrase.words.length;
	}
	return courtesy === null || courtesy.kind === 'filler' ? null : { kind: courtesy.kind, language: courtesy.language };
}

/** The message without opening and closing courtesies: `Hi! Where do I park? Thanks` → `Where do I park?`. */
export function withoutCourtesies(message: string): string {
	const clauses = message.match(/[^.,!?;\n。、！？،؟]+[.,!?;\n。、！？،؟]*/g) ?? [];
	let from = 0;
	let to = clauses.length;
	while (from < to && courtesyOf(clauses[from] as string)) from++;
	while (to > from && courtesyOf(clauses[to - 1] as string)) to--;
	return from === to ? message : clauses.slice(from, to).join('').trim();
}
