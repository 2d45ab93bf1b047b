import { analyse } from '../../text/index.ts';
import type { SpokenLanguage } from '../spoken-language.ts';
import { rudeLanguage } from './rudeness.ts';

type Phrased = 'greeting' | 'thanks' | 'farewell' | 'identity' | 'human';

/** The kind of a message that asks nothing of the documents: `identity` asks who replies, `human` asks for a person, `rude` insults. */
export type SmallTalk = Phrased | 'rude';

/** A message that consists of small talk only. */
export interface Courtesy {
	kind: SmallTalk;
	language: SpokenLanguage;
}

/** `filler` has words that accompany a courtesy and mean nothing alone. */
const COURTESIES: Record<SpokenLanguage, Record<Phrased | 'filler', string>> = {
	en: {
		greeting:
			'hi|hello|hey|hiya|howdy|greetings|good morning|good afternoon|good evening|good day|how are you|nice to meet you',
		thanks:
			'thanks|thank you|thx|ty|cheers|thanks a lot|many thanks|thank you very much|thank you so much|much appreciated|great help|that helps|that helped|perfect|very helpful|that was helpful',
		farewell: 'bye|goodbye|bye bye|see you|see you later|have a nice day|have a great day|good night',
		identity:
			'who are you|what are you|who am i talking to|who is this|are you a robot|are you a bot|are you a chatbot|are you human|are you a human|are you a real person|are you a person|are you real|are you an ai|is this a bot|is this a robot|am i talking to a robot|am i talking to a bot|am i talking to a human|what is your name|what s your name|are you a machine|are you chatgpt|are you a computer|is this a chatbot|are you a real human|am i chatting with a bot|am i chatting with a person|am i talking to a person|am i talking to a real person|what can you do|what do you do|who made you|do you have a name',
		human:
			'can i talk to a human|can i speak to a human|can i talk to a person|can i speak to a person|can i talk to someone|can i speak to someone|can i speak with someone|can i talk to a real person|can i speak to a real person|i want to talk to a human|i want to speak to a human|i want to talk to a person|i want to speak to a person|i want to talk to someone|i want to speak to someone|i would like to speak to someone|i would like to talk to a person|i d like to speak to a person|i d like to talk to a human|talk to a human|speak to a human|human please|a human please|can i speak to an agent|talk to an agent|speak to an agent|i need a human|let me talk to a human|connect me to a human|connect me with a person|can i speak with a human|can i speak with a person|can i talk with a human|can i talk with a person|can i talk to an agent|can i talk to an employee|i want a human|i want a person|i want to speak to a real person|i want to talk to a real person|i want to talk to an agent|i need to talk to a person|i need to talk to someone|let me speak to a human|let me talk to a person|let me speak to someone|talk to a person|speak to a person|speak with a human|real person|get me a human|is there a human|is there a real person|can a human help me|put me through to a person|put me through to an agent|connect me to a person|connect me to an agent|i want to speak with a human|i want to speak with a person|i want to speak with someone|i want to talk with a human|i would like to talk to a human|i would like to talk to someone|i would like to speak to a human|i would like to speak to a person|i would like to speak with someone|i d like to talk to a person|i d like to talk to someone|i d like to speak to a human|i d like to speak to someone|i d like to speak with someone|could i talk to a human|could i talk to someone|could i talk to a person|could i speak to a human|could i speak to someone|could i speak to a person|may i speak to someone|may i speak to a person|i need to speak to a human|i need to speak to a person|i need to speak to someone|i need to talk to a human|talk to a real person|speak to a real person|talk to a representative|speak to a representative|can i talk to a representative|can i speak to a representative|i want to talk to a representative|i want to speak to a representative|i want to speak to an agent|human agent|live agent',
		filler:
			'there|all|everyone|team|bot|ok|okay|great|and|you|well|a lot|for your help|for the help|so much|very much|please|pls|now|right now|here|instead',
	},
	de: {
		greeting: 'hallo|hi|hey|moin|servus|guten tag|guten morgen|guten abend|grüß gott|grüezi',
		thanks: 'danke|danke schön|dankeschön|vielen dank|besten dank|danke sehr|herzlichen dank|super',
		farewell: 'tschüss|tschüs|auf wiedersehen|bis bald|schönen tag|schönen tag noch',
		identity:
			'wer bist du|wer sind sie|was bist du|was sind sie|bist du ein roboter|sind sie ein roboter|bist du ein bot|sind sie ein bot|bist du ein mensch|sind sie ein mensch|bist du eine ki|sind sie eine ki|spreche ich mit einem roboter|spreche ich mit einem menschen|wie heißt du|wie heißen sie|bist du eine maschine|sind sie eine maschine|bist du chatgpt|sind sie chatgpt|bist du ein chatbot|sind sie ein chatbot|bist du echt|spreche ich mit einem bot|rede ich mit einem roboter|rede ich mit einem menschen|was kannst du|was können sie|bin ich mit einem menschen verbunden',
		human:
			'kann ich mit einem menschen sprechen|kann ich mit einem mitarbeiter sprechen|kann ich mit jemandem sprechen|kann ich mit einer person sprechen|ich möchte mit einem menschen sprechen|ich möchte mit einem mitarbeiter sprechen|ich möchte mit jemandem sprechen|ich will mit einem menschen sprechen|mit einem menschen sprechen|mitarbeiter bitte|einen menschen bitte|kann ich mit einem menschen reden|kann ich mit jemandem reden|kann ich einen mitarbeiter sprechen|kann ich jemanden sprechen|ich möchte einen menschen sprechen|ich möchte einen mitarbeiter sprechen|ich möchte mit einer person sprechen|ich will einen menschen sprechen|ich will mit jemandem reden|ich will mit einem mitarbeiter sprechen|ich brauche einen menschen|mit einem mitarbeiter sprechen|verbinden sie mich mit einem mitarbeiter|verbinde mich mit einem menschen|echter mensch|gibt es hier einen menschen|ich will mit einem menschen reden|ich möchte mit einem menschen reden|ich möchte mit jemandem reden|ich möchte mit einem mitarbeiter reden|ich möchte gern mit einem menschen sprechen|ich würde gerne mit einem menschen sprechen|ich würde gerne mit einem mitarbeiter sprechen|ich würde gerne mit jemandem sprechen|kann ich mit einem mitarbeiter reden|könnte ich mit einem menschen sprechen|könnte ich mit einem mitarbeiter sprechen|könnte ich mit jemandem sprechen|ich brauche einen mitarbeiter|ich muss mit einem menschen sprechen|ich muss mit jemandem sprechen|mit einem menschen reden|mit einem mitarbeiter reden|verbinden sie mich mit einem menschen|verbinde mich mit einem mitarbeiter|bitte einen menschen|bitte einen mitarbeiter|lassen sie mich mit einem menschen sprechen|ich möchte mit einem echten menschen sprechen|ich will mit einem echten menschen sprechen|kann ich mit einem echten menschen sprechen',
		filler: 'zusammen|ok|okay|prima|und|für die hilfe|für ihre hilfe|für deine hilfe|bitte|jetzt|hier|gerne|mal|auch',
	},
	fr: {
		greeting: 'bonjour|salut|bonsoir|coucou',
		thanks: 'merci|merci beaucoup|merci bien|mille mercis|parfait',
		farewell: 'au revoir|à bientôt|bonne journée|bonne soirée|adieu',
		identity:
			"qui es tu|qui êtes vous|tu es qui|vous êtes qui|es tu un robot|êtes vous un robot|tu es un robot|vous êtes un robot|es tu humain|êtes vous humain|es tu une ia|êtes vous une ia|comment t'appelles tu|comment vous appelez vous|êtes vous une machine|es tu une machine|êtes vous un humain|es tu un humain|êtes vous chatgpt|es tu chatgpt|c'est un robot|suis je en train de parler à un robot|je parle à un robot|je parle à un humain|que sais tu faire|que pouvez vous faire|quel est votre nom|quel est ton nom",
		human:
			"puis je parler à un humain|puis je parler à quelqu'un|puis je parler à une personne|puis je parler à un conseiller|je veux parler à un humain|je veux parler à quelqu'un|je voudrais parler à quelqu'un|je voudrais parler à un humain|je voudrais parler à une personne|je voudrais parler à un conseiller|parler à un humain|un humain s'il vous plaît|puis je parler à un agent|puis je parler avec quelqu'un|puis je parler avec un humain|je peux parler à un humain|je peux parler à quelqu'un|est ce que je peux parler à un humain|est ce que je peux parler à quelqu'un|je veux parler à une personne|je veux parler à un conseiller|je voudrais parler à un agent|parler à quelqu'un|parler à un conseiller|un conseiller|un humain|une vraie personne",
		filler:
			"ok|à tous|et|super|d'accord|pour votre aide|pour ton aide|s'il vous plaît|s'il te plaît|svp|stp|maintenant|ici",
	},
	es: {
		greeting: 'hola|buenos días|buenas tardes|buenas noches|buenas|qué tal',
		thanks: 'gracias|muchas gracias|mil gracias|perfecto',
		farewell: 'adiós|hasta luego|hasta pronto|chao',
		identity:
			'quién eres|quién es usted|qué eres|eres un robot|es usted un robot|eres un bot|eres humano|eres humana|eres una persona|eres una ia|cómo te llamas|eres una máquina|es usted una máquina|es usted una persona|es usted humano|eres un chatbot|eres chatgpt|estoy hablando con un robot|estoy hablando con una persona|hablo con un robot|hablo con una persona|qué puedes hacer|cuál es tu nombre|cuál es su nombre',
		human:
			'puedo hablar con una persona|puedo hablar con un humano|puedo hablar con alguien|quiero hablar con una persona|quiero hablar con un humano|quiero hablar con alguien|quiero hablar con un agente|hablar con una persona|una persona por favor|puedo hablar con un agente|puedo hablar con una persona real|puedo hablar con un operador|quiero hablar con una persona real|quiero hablar con un operador|quisiera hablar con una persona|quisiera hablar con alguien|me gustaría hablar con una persona|me gustaría hablar con alguien|necesito hablar con una persona|necesito hablar con alguien|hablar con un humano|hablar con un agente|hablar con alguien|una persona real|un humano',
		filler: 'ok|vale|y|a todos|por la ayuda|por su ayuda|por tu ayuda|por favor|ahora|aquí',
	},
	nl: {
		greeting: 'hallo|hoi|hey|goedemorgen|goede morgen|goedemiddag|goede middag|goedenavond|goeden? avond|goedendag|dag',
		thanks: 'bedankt|dank je|dank u|dank je wel|dank u wel|dankjewel|hartelijk dank|heel erg bedankt',
		farewell: 'tot ziens|doei|doeg|tot later|fijne dag',
		identity:
			'wie ben je|wie ben jij|wie bent u|wat ben je|ben je een robot|bent u een robot|ben je een bot|ben je een mens|bent u een mens|hoe heet je|ben je een machine|bent u een machine|ben jij een robot|ben jij een mens|bent u een bot|ben je een chatbot|ben je chatgpt|praat ik met een robot|praat ik met een mens|spreek ik met een robot|spreek ik met een mens|wat kun je|wat kan je|hoe heet u',
		human:
			'kan ik met een mens praten|kan ik met een medewerker praten|kan ik met iemand praten|kan ik iemand spreken|kan ik een medewerker spreken|ik wil met een mens praten|ik wil met iemand praten|ik wil een medewerker spreken|een mens graag|kan ik met een mens spreken|kan ik met een medewerker spreken|kan ik met iemand spreken|kan ik een mens spreken|ik wil met een medewerker praten|ik wil met een mens spreken|ik wil met iemand spreken|ik wil iemand spreken|ik wil een mens spreken|ik wil graag iemand spreken|ik wil graag met iemand praten|met een mens praten|met een medewerker praten|een medewerker|een echt mens|een mens',
		filler: 'ok|oké|en|allemaal|voor de hulp|voor uw hulp|voor je hulp|alsjeblieft|alstublieft|aub|graag|nu|hier',
	},
	pt: {
		greeting: 'olá|oi|bom dia|boa tarde|boa noite|tudo bem',
		thanks: 'obrigado|obrigada|muito obrigado|muito obrigada|valeu|perfeito',
		farewell: 'tchau|adeus|até logo|até mais',
		identity:
			'quem é você|quem és tu|o que é você|você é um robô|és um robô|você é humano|você é uma pessoa|você é uma ia|qual é o seu nome|você é uma máquina|você é um bot|você é um chatbot|é um robô|és humano|és uma pessoa|você é chatgpt|estou falando com um robô|estou falando com uma pessoa|estou a falar com um robô|o que você faz|como você se chama|como te chamas|qual é o teu nome',
		human:
			'posso falar com uma pessoa|posso falar com um humano|posso falar com alguém|quero falar com uma pessoa|quero falar com um humano|quero falar com alguém|quero falar com um atendente|falar com uma pessoa|posso falar com um atendente|posso falar com um agente|posso falar com uma pessoa real|quero falar com um agente|quero falar com uma pessoa real|queria falar com uma pessoa|queria falar com alguém|gostaria de falar com uma pessoa|gostaria de falar com alguém|gostaria de falar com um atendente|preciso falar com uma pessoa|preciso falar com alguém|falar com um humano|falar com um atendente|falar com alguém|um atendente|uma pessoa real',
		filler: 'ok|e|a todos|pela ajuda|por favor|agora|aqui',
	},
	it: {
		greeting: 'ciao|salve|buongiorno|buon giorno|buonasera|buona sera',
		thanks: 'grazie|grazie mille|molte grazie|tante grazie|perfetto',
		farewell: 'arrivederci|a presto|addio|buona giornata|buona serata',
		identity:
			"chi sei|chi è lei|cosa sei|sei un robot|sei un bot|sei umano|sei una persona|sei un'ia|come ti chiami|sei una macchina|è un robot|lei è un robot|lei è una persona|sei un chatbot|sei chatgpt|sei un essere umano|sto parlando con un robot|sto parlando con una persona|parlo con un robot|parlo con una persona|cosa sai fare|qual è il tuo nome|qual è il suo nome",
		human:
			'posso parlare con una persona|posso parlare con un umano|posso parlare con qualcuno|posso parlare con un operatore|voglio parlare con una persona|voglio parlare con qualcuno|vorrei parlare con una persona|vorrei parlare con qualcuno|vorrei parlare con un operatore|parlare con una persona|posso parlare con un agente|posso parlare con una persona reale|posso parlare con una persona vera|voglio parlare con un operatore|voglio parlare con un umano|voglio parlare con una persona vera|vorrei parlare con un umano|vorrei parlare con un agente|mi piacerebbe parlare con una persona|ho bisogno di parlare con una persona|ho bisogno di parlare con qualcuno|parlare con un umano|parlare con un operatore|parlare con qualcuno|un operatore|una persona vera|un umano',
		filler: "ok|e|a tutti|per l'aiuto|per favore|per piacere|per cortesia|adesso|ora|qui",
	},
	ja: {
		greeting: 'こんにちは|おはよう|おはようございます|こんばんは|はじめまして|どうも',
		thanks:
			'ありがとう|ありがとうございます|ありがとうございました|どうもありがとう|どうもありがとうございます|助かりました',
		farewell: 'さようなら|さよなら|またね|失礼します',
		identity:
			'あなたは誰ですか|あなたはロボットですか|ロボットですか|人間ですか|あなたは人間ですか|aiですか|名前は何ですか|ロボットなの|あなたは誰|誰ですか|どなたですか|あなたはaiですか|チャットボットですか|あなたは機械ですか|あなたの名前は何ですか|お名前は|人ですか|何ができますか',
		human:
			'人と話したいです|人間と話したいです|担当者と話したいです|オペレーターと話したいです|人と話せますか|担当者と話せますか|人と話したい|人間と話したい|人と話すことはできますか|人間と話せますか|オペレーターと話せますか|オペレーターにつないでください|担当者につないでください|人につないでください|担当者をお願いします|オペレーターをお願いします',
		filler: 'はい|わかりました|お願いします|ください',
	},
	ar: {
		greeting: 'مرحبا|أهلا|أهلا وسهلا|السلام عليكم|صباح الخير|مساء الخير|سلام',
		thanks: 'شكرا|شكرا جزيلا|شكرا لك|أشكرك|ألف شكر',
		farewell: 'مع السلامة|إلى اللقاء|وداعا',
		identity:
			'من أنت|ما أنت|هل أنت روبوت|هل أنت إنسان|هل أنت شخص حقيقي|ما اسمك|هل أنت آلة|هل أنت بشر|هل أنت شخص|هل أتحدث مع روبوت|هل أتحدث مع إنسان|ماذا يمكنك أن تفعل|من تكون',
		human:
			'هل يمكنني التحدث إلى شخص|هل يمكنني التحدث مع شخص|أريد التحدث إلى شخص|أريد التحدث مع شخص|أريد التحدث مع إنسان|أريد التحدث إلى موظف|هل يمكنني التحدث إلى إنسان|هل يمكنني التحدث مع إنسان|هل يمكنني التحدث إلى موظف|هل يمكنني التحدث مع موظف|أريد التحدث إلى إنسان|أريد التحدث مع موظف|أريد شخصا حقيقيا',
		filler: 'حسنا|لك|جدا|و|من فضلك|لو سمحت|الآن',
	},
};

interface Phrase {
	words: string[];
	language: SpokenLanguage;
	kind: Phrased | 'filler';
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

/** The fillers of one word. */
const FILLERS: ReadonlySet<string> = new Set(
	[...phrases.values()].flat().flatMap(({ kind, words }) => (kind === 'filler' && words.length === 1 ? words : [])),
);

/** Courtesies are short. A longer message asks something. */
const MAX_COURTESY_LENGTH = 80;
/** The courtesy with the highest rank is the kind of the message: `hello, thank you, bye` is a farewell. */
const RANK: Record<Phrase['kind'], number> = { filler: 0, greeting: 1, thanks: 2, farewell: 3, identity: 4, human: 5 };

/** The courtesy of a message; null if the message has any other words. */
export function courtesyOf(message: string): Courtesy | null {
	if (message.length > MAX_COURTESY_LENGTH || message.trim() === '') return null;
	const words = analyse(message, null);
	// `Ich möchte bitte mit jemandem sprechen`: a filler may stand within a phrase.
	return phrasedCourtesy(words) ?? phrasedCourtesy(words.filter((word) => !FILLERS.has(word))) ?? rudenessOf(message);
}

/** A wish for a person at the beginning of a message that goes on. */
export interface WishForPerson {
	language: SpokenLanguage;
	/** The number of words of its phrase. */
	phraseWords: number;
	/** The word after the phrase. */
	nextWord: string;
}

/** The wish for a person with which words begin, after greetings and fillers; null if there is none, or nothing follows it. */
export function leadingWishForPerson(words: readonly string[]): WishForPerson | null {
	for (let at = 0; at < words.length; ) {
		const phrase = phraseAt(words, at);
		if (!phrase) return null;
		at += phrase.words.length;
		const nextWord = words[at];
		if (phrase.kind !== 'human' || nextWord === undefined) continue;
		return { language: phrase.language, phraseWords: phrase.words.length, nextWord };
	}
	return null;
}

/** The longest phrase at a position. */
function phraseAt(words: readonly string[], at: number): Phrase | undefined {
	return phrases.get(words[at] as string)?.find(({ words: own }) => own.every((w, i) => words[at + i] === w));
}

function phrasedCourtesy(words: readonly string[]): Courtesy | null {
	let courtesy: Phrase | null = null;
	for (let at = 0; at < words.length; ) {
		const phrase = phraseAt(words, at);
		if (!phrase) return null;
		if (!courtesy || RANK[phrase.kind] > RANK[courtesy.kind]) courtesy = phrase;
		at += phrase.words.length;
	}
	return courtesy === null || courtesy.kind === 'filler' ? null : { kind: courtesy.kind, language: courtesy.language };
}

function rudenessOf(message: string): Courtesy | null {
	const language = rudeLanguage(message);
	return language === null ? null : { kind: 'rude', language };
}

/** Whether a message asks nothing of the documents. */
export function isSmallTalk(message: string): boolean {
	return courtesyOf(message) !== null;
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
