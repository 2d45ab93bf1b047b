import { analyse } from '../../text/index.ts';
import type { SpokenLanguage } from '../spoken-language.ts';

/**
 * Function words of questions. They reveal the language of a question that is too short for statistics, and have little or
 * no weight in the search for its answer.
 */
const FUNCTION_WORDS: Record<SpokenLanguage, string> = {
	en: `a an the is are was were am be been do does did can could should would will may must have has had how what when
		where which who whom whose why much many long often i you we they he she it me my your our their his her its this
		that these those there to of in on at for from with without about by as or and not any some if than then so
		here us them into out up more most other also only just over under after before between
		during against through while each every both such very s t re ve ll d`,
	de: `der die das den dem des ein eine einen einem einer eines ist sind war waren bin bist sein wird werden wurde kann
		kannst können darf dürfen soll sollte muss müssen habe hast hat haben hatte wie was wann wo wohin woher wer wen wem
		wessen warum wieso weshalb welche welcher welches welchen welchem viel viele lange oft ich du wir ihr sie er es mich
		mir dir mein meine meinen meiner dein unser zu zum zur von vom in im an am auf für aus mit ohne über bei nach und
		oder nicht kein keine gibt man sich ob wenn als`,
	fr: `le la les l un une des du de d est sont était suis être peut peux puis pouvons dois doit faut ai as a ont avons avez
		comment que quoi quand où qui pourquoi quel quelle quels quelles lequel combien je j tu nous vous ils elle elles il
		on me mon ma mes notre nos votre vos son sa ses ce cet cette ces à au aux en dans sur pour par avec sans chez et ou
		ne n pas y se qu c est-ce si plus`,
	es: `el la los las un una unos unas es son era soy ser está están estoy puedo puede podemos debo debe hay tengo tiene
		tienen tenemos cómo como qué que cuándo cuando dónde donde quién quiénes quien cuál cuáles cual cuánto cuánta
		cuántos cuántas por yo tú nosotros usted ustedes ellos ella mi mis tu su sus nuestro a al de del en para con sin
		sobre y o no se me lo le si más`,
	nl: `de het een is zijn was waren ben bent kan kun kunnen mag moet moeten heb hebt heeft hebben hoe wat wanneer waar
		waarheen wie waarom welke welk hoeveel lang vaak ik jij je u wij we zij ze hij mij mijn jouw uw ons onze hun te van
		in op aan voor uit met zonder over bij naar en of niet geen er dit dat deze die men zich als om`,
	pt: `o a os as um uma uns umas é são era sou ser está estão estou posso pode podemos devo deve há tenho tem têm temos como
		que quando onde quem qual quais quanto quanta quantos quantas por porque eu tu nós você vocês eles ela meu minha
		meus minhas seu sua nosso ao à de do da dos das em no na nos nas para com sem sobre e ou não se me mais`,
	it: `il lo la i gli le l un uno una è sono era essere può posso possiamo devo deve c ci ho ha hanno abbiamo come che cosa
		quando dove chi perché quale quali quanto quanta quanti quante io tu noi voi loro lei lui mio mia miei mie tuo suo
		sua nostro a al alla ai alle di del della dei delle d in nel nella su sul sulla per da dal dalla con senza e o non si
		mi se più`,
	ja: `は が を に で と の へ も か や から まで より です ます ました ません でしょう だ な ね よ この その あの どの 何 なに なん いつ どこ
		だれ 誰 なぜ どう どうやって どれ どちら いくら いくつ ください ある あり いる する し て た れ ない こと もの ん`,
	ar: `في من إلى على عن مع هل ما ماذا متى أين كيف كم لماذا أي من هو هي هم أنا نحن أنت هذا هذه ذلك تلك التي الذي لي لنا عند
		عندي بعد قبل أو و لا لم لن كان يكون يمكن يمكنني يجب إن أن إذا`,
};

/** Words that only request something. A stemmer treats them as content, but they are hardly the subject. */
const REQUEST_WORDS: Record<SpokenLanguage, string> = {
	en: `tell explain describe show give list please need want like know possible help find get got say mean means let
		make made use used using question answer information info details detail hi hello hey thanks thank work works
		happen happens go come take allowed supposed exactly actually regarding look something anything think heard
else tried wonder see keep put bring
		happening become seem got going goes went came gone done did given gave kept taken took told still already yet again
		ever never always soon please quite able currently usually way case kind sort lot bit thing things`,
	de: `sage sagen sag erkläre erklären zeige zeig gib geben nenne bitte brauche möchte möchten will wissen weiß möglich
		hilfe finde finden bekomme bekommen frage antwort information informationen hallo danke machen mache tun passiert
		funktioniert bedeutet genau eigentlich etwas erlaubt bringen bringe nehmen nehme geht gehen kommt
		kommen lassen lasse steht stehen bleibt bleiben gilt gelten braucht jetzt noch schon immer wieder gerade denn mal ja
		doch eben halt dann dort da hier bei euch ihnen euer eure jemand`,
	fr: `dire dis dites expliquer expliquez montrer donner donnez besoin veux voudrais savoir possible aide trouver obtenir
		question réponse information informations bonjour merci faire fait fonctionne passe signifie plaît svp quelque chose mettre prendre prends venir
		vient aller va vais amener rester donne encore déjà toujours maintenant ici là alors bien très peu beaucoup
		quelqu'un cas choses`,
	es: `ustedes usted dime decir explica explicar mostrar dar necesito quiero quisiera saber posible ayuda encontrar obtener pregunta
		respuesta información hola gracias hacer hago funciona pasa significa favor algo`,
	nl: `jullie vertel zeg leg uitleg toon geef graag nodig wil weten mogelijk hulp vind vinden krijg krijgen vraag antwoord
		informatie hallo bedankt doen doe werkt gebeurt betekent precies iets alstublieft`,
	pt: `vocês você diga dizer explique explicar mostrar dar preciso quero gostaria saber possível ajuda encontrar obter pergunta
		resposta informação informações olá obrigado fazer faço funciona acontece significa favor algo`,
	it: `voi lei dimmi dire spiega spiegare mostra dare dammi bisogno voglio vorrei sapere possibile aiuto trovare trovo ottenere
		domanda risposta informazioni ciao grazie fare faccio funziona succede significa favore qualcosa`,
	ja: '教え 教える 知り 知りたい お願い 質問 回答 情報 方法 について 説明 必要 いただけ でき できる',
	ar: 'أخبرني قل اشرح أرني أعطني أريد أحتاج معرفة ممكن مساعدة سؤال جواب معلومات مرحبا شكرا فضلك أحصل',
};

const languagesByWord = new Map<string, SpokenLanguage[]>();
for (const [language, list] of Object.entries(FUNCTION_WORDS) as Array<[SpokenLanguage, string]>) {
	for (const word of new Set(analyse(list, null)))
		languagesByWord.set(word, [...(languagesByWord.get(word) ?? []), language]);
}

/** The languages of the function words of a text. */
export interface LanguageVote {
	/** The languages with the most function words in the text: several on a tie, none without function words. */
	languages: SpokenLanguage[];
	/** The share of the words that are function words of these languages, 0..1. */
	share: number;
}

/** Counts the words of a text as votes for the languages of which they are function words. */
export function voteLanguage(text: string): LanguageVote {
	const counts = new Map<SpokenLanguage, number>();
	const words = analyse(text, null);
	for (const word of words) {
		for (const language of languagesByWord.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1);
	}
	const most = Math.max(0, ...counts.values());
	if (most === 0) return { languages: [], share: 0 };
	const languages = [...counts].filter(([, count]) => count === most).map(([language]) => language);
	return { languages, share: most / words.length };
}

/** The words that have no weight, or little, for the subject of a question. */
export interface FunctionWords {
	/** Analysed words without weight. */
	ignored: ReadonlySet<string>;
	/** Analysed words with little weight. */
	lowWeight: ReadonlySet<string>;
}

const functionWordsCache = new Map<string | null, FunctionWords>();

/** The function words of a language as stems of `analyse`; those of English for a language without a list. */
export function functionWords(language: string | null): FunctionWords {
	let known = functionWordsCache.get(language);
	if (!known) {
		const own: SpokenLanguage = isSpoken(language) ? language : 'en';
		known = {
			ignored: new Set(analyse(FUNCTION_WORDS[own], language)),
			lowWeight: new Set(analyse(REQUEST_WORDS[own], language)),
		};
		functionWordsCache.set(language, known);
	}
	return known;
}

/** Whether an analysed word, without its stem, is a function word of a language. */
export function isFunctionWord(word: string, language: SpokenLanguage): boolean {
	return languagesByWord.get(word)?.includes(language) ?? false;
}

/** Whether there are phrases in this language. */
export function isSpoken(language: string | null): language is SpokenLanguage {
	return language !== null && Object.hasOwn(FUNCTION_WORDS, language);
}
