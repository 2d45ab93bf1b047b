import { normalise } from './words.ts';

/**
 * Function words besides the stop words: interrogatives, and lists for languages that have no stop words or few. Words of two languages are in both lists,
 * so that only the others decide between them.
 */
const FUNCTION_WORDS: Record<string, string> = {
	de: 'ich wie was wer wann wo warum welche welcher welches kann können soll sollte muss darf gibt',
	en: 'how what when where who why which can should does do is are',
	es: 'cómo qué cuándo dónde quién cuál cuáles cuánto cuánta puedo puede hay',
	fr: 'comment quand où qui quel quelle quels quelles combien pourquoi puis peut est-ce',
	it: 'come quando dove chi quale quali quanto quanta perché posso può si',
	nl: 'hoe wat wanneer waar wie welke waarom kan moet mag ik',
	pt: 'como quando onde quem qual quais quanto quanta porque posso pode há',
	cs: 'a aby ale ani ano asi až bez bude budou by byl byla bylo být co což či do ho i já jak jaké jako je jeho jej její jejich jen jestli ještě již jsem jsme jsou jste k kde kdo kdy když ke kolik která které který kteří ku lze má mají mám máme máte me mé mezi mi mít mne mně můj může můžete my na nad nám napište nás naše náš ne nebo nejsou není než nic od on ona oni pak po pod podle pokud pouze pro proč proto před přes při s se si sice své svůj ta tak také takže tam tato te ten tento ti to tohle toto tu tuto ty tyto u už v vám vás váš vaše ve více však všechny vy z za zda že každý každou bylo musí potom prosím děkuji dny dnů dne roky roku platí otázky hodiny',
	sk: 'a aby aj ak ako ale alebo áno asi až bez bol bola bolo bude budú by byť čo cez do ešte ho i iba ich ja je jeho jej k kde kto ktorá ktoré ktorí ktorý kedy keď ku koľko lebo len ma má majú mám máme máte medzi mi mne môj môže môžete my na nad nám napíšte nás náš naše nie nič niet o od on ona oni po pod podľa pokiaľ potom pre preto prečo pred pri s sa si so som sme ste sú svoj svoje ta tak také takže tam táto teda ten tento ti tie to toto tu túto tým u už v vám vás váš vaše vo viac však všetky vy z za zo že každý každú bolo musí prosím ďakujem dní dňa roky roku nesmú vrátime robiť platí otázky hodiny piatok pondelok',
	pl: 'a aby ale ani bardzo będzie będą bez być był była było były ci co czy czyli dla do gdy gdyż gdzie go i ich ile im inne innych ja jak jaka jakie jako je jednak jego jej jest jestem jeśli jeżeli już każdy każda kiedy kto która które który którzy którym lub ma mają mam może możesz można mi mnie mój my na nad nam nas nasz nasze nawet nie nic niż o od on ona oni oraz po pod ponieważ poza proszę przed przez przy są się swoje ta tak także tam te tego tej ten też to tu ty tych tylko tym u w wam was więc we wszystkie wtedy z za ze że żeby podczas dni dnia lat roku napisz masz musi',
	hr: 'a ako ali bez bi bih bila bilo bio biti brzo će ćemo da do gdje ga i ih ili im ima imate imaju iz iznad ja je jedan jedna jer još kada kako kao koja koje koji koliko kod koju ima li mi mogu može možete moj mora na nad nakon nam naš naša ne nego nema netko ni nije nismo nisu no o od on ona oni ovo ova ovaj po pod pokraj prema pri prije radi s sa sam samo se smije smiju smo ste su sve svi svaki sve što štoga ta tada taj tako također te ti to toga treba trebam trebate tu u uz vam vas vaš vaša već više vi za zbog zašto želite sati godine dana jamstvo vrijedi koristiti pišite pitanja zatvorena vrijeme',
	sl: 'a ali ampak bi bil bila bilo biti bo bodo bolj brez če da do dva ga glede in ima imajo imamo imate iz ja jaz je jih kaj kako kakšen kateri katera katero ker ki kje ko koliko lahko le mi med moj mora morate na nad nam naš naša ne nekaj ni niso o ob od oziroma pa po pod pogosto pred pri prosimo s samo se smo so ste sta ta tako tam te ti to toda tudi tukaj v vam vas vaš vaša več vendar vi vsak vse vsi za zakaj zaradi zato z že smejo dneh dni leti velja pošljemo vprašanja zaprta nakupa vrnete stane',
	lv: 'ar arī bet bez bija būs būt cik citi daudz dēļ divus gan ja jā jau jūs jums jūsu ir kā kad kāda kādi kāds kas ko kur katru ka kopā kurš laikā lai līdz man mans mēs mums mūsu nav ne nedrīkst nekā no nost pa par pār pēc pie pirms pret savu šajā šī šis starp tā tad tādēļ tai tas tāpēc te tie tikai to tos tur un uz vai vairāk var varat vēl vienmēr vienu viņi viņš visi viss zem dienu dienas gadus lūdzu rakstiet jautājumi',
	lt: 'apie ar arba ant bei be bet bus būti buvo dėl galite gali iki ir iš į jei jeigu jis ji jie jo jos jūs jūsų kad kada kai kaip kaina kas kiek kiekvieną kur kuris kuri kurie labai mes mūsų mums nei nuo ne nėra negali negalima o pagal per po prie prieš savo su šis ši šie ta tai taip tas tik tačiau tuo turi turite už yra visi visos vienas virš dienų dienas metus metų rašykite prašome kokia koks kokie',
	et: 'aga alates alla enne ei ega et ette ja jooksul järgi juba juures ka kaks kas keegi kes kui kuhu kuidas kuni kus kuna koos küsimusi kõik käesolev läbi ma me meie meile mida mille millal mina mis miks mitte mu nad need neid nii ning nüüd oli oled oleme olla oma on palju pole peab peale pärast saab saada see seda selle sest siin siis sellest suletud ta te teie teile teil tema üle või võib võite vaid väga vaja ära üks igal kuu päeva aasta kirjutage palun ajal',
	fi: 'ei että ennen he hän ilman ja jos jotka joka joissa jälkeen kaikki kanssa kauden kaksi koko koska kuin kuinka kun kuka me meille meidän mikä mitä miten minä missä milloin mukaan mutta myös nyt näin oli olla on ovat pitää saa se sekä sen siellä sinulla sinä sitten tai tämä te teidän tulee tästä vai vain voi voit voitte vuotta yli kuluessa päivän päivää aikana alle',
	da: 'ad af alle altid at bare blev blive bliver både da de deg dem den denne der deres det dette dig din dine disse du efter eller en end er et få får for fordi fra før først gør gøre ham han hans har havde have her hun hvad hvem hver hvilken hvilke hvis hvor hvordan hvorfor hvornår i igen ikke ind inden ingen inkl jeg jer jeres kan kun kunne køb købt lige må man mange med meget mellem men mere mig min mod måned ned nej noget nogle nu når og også om op os over på sådan selv senest sig skal som stadig så til to tre ud uden under var ved vi vil vores være været år åbner åbent lukket dage dag timer uge uger bruge bruges brug skriv spørgsmål varer varen gælder købsdato hverdage',
	no: 'alle alltid at av bare ble bli blir både da de deg dem den denne der dere deres det dette din dine disse du en enn er et etter eller få får for fordi fra før først gjør gjøre ham han hans har hadde ha her hun hva hvem hver hvilken hvilke hvis hvor hvordan hvorfor i igjen ikke inn innen ingen inkl jeg kan kun kunne kjøp kjøpt like må man mange med meg mellom men mer min mot måned mye ned nei noe noen nå når og også om opp oss over på selv senest seg skal slik som så til to tre ut uten under var ved vi vil vår våre være vært år åpner åpent stengt dager dag timer uke uker bruke brukes bruk skriv spørsmål varer varen å',
	sv: 'alla att av bara bli blir blev de dem den denna deras det detta dig din du då där efter eller en ett från för först få får före ha hade han hans har hon hur hos här i in inga innan inte inom ja jag kan kunde man med mellan men mer mig min mot mycket ni nu när någon något några och också om oss på sedan sig sin ska som sa så till tre två under upp ut utan var vad vara vem vi vid vilken vill vår våra är år över öppnar öppet stängd stängt dagar dag timmar vecka veckor använd används skriv frågor varor varan',
};

/** The letters of languages in Latin script besides a to z. A letter of another language in many words shows that a text is in that one. */
const LETTERS: Record<string, string> = {
	cs: 'áčďéěíňóřšťúůýž',
	da: 'æøåéü',
	de: 'äöüß',
	en: 'é',
	es: 'áéíñóúü',
	et: 'äõöüšž',
	fi: 'äöå',
	fr: 'àâæçéèêëîïôœùûüÿ',
	ga: 'áéíóú',
	hr: 'čćđšž',
	hu: 'áéíóöőúüű',
	id: 'é',
	it: 'àèéìíòóù',
	lt: 'ąčęėįšųūž',
	lv: 'āčēģīķļņšūž',
	nl: 'áéëïóöü',
	no: 'æøåéòó',
	pl: 'ąćęłńóśźż',
	pt: 'áâãàçéêíóôõúü',
	ro: 'ăâîșțşţ',
	sk: 'áäčďéíĺľňóôŕšťúýž',
	sl: 'čšž',
	sr: 'čćđšž',
	sv: 'åäöé',
	tr: 'âçğıîöşüû',
	vi: 'àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ',
};

const LETTER_SETS = new Map(Object.entries(LETTERS).map(([language, letters]) => [language, new Set(letters)]));
/** What remains of the evidence for a language after each word with a letter that it does not have. */
const FOREIGN_LETTER_FACTOR = 0.5;

let languagesByWord: Map<string, string[]> | undefined;

/** The languages in whose additional lists a word is, in lower case. People leave out accents, so words without them are found, too. */
export function languagesOfFunctionWord(word: string): readonly string[] {
	if (languagesByWord === undefined) {
		languagesByWord = new Map();
		for (const [language, list] of Object.entries(FUNCTION_WORDS)) {
			// Single letters number lists and name variables in every language.
			const entries = list.split(' ').filter((one) => one.length > 1);
			for (const entry of new Set(entries.flatMap((one) => [one, normalise(one)])))
				languagesByWord.set(entry, [...(languagesByWord.get(entry) ?? []), language]);
		}
	}
	return languagesByWord.get(word) ?? [];
}

/** Whether a language can have a word: it has all its letters, or its letters are not listed. */
export function hasLettersOf(language: string, word: string): boolean {
	const letters = LETTER_SETS.get(language);
	return letters === undefined || [...word].every((letter) => letter < '\u0080' || letters.has(letter));
}

const CROATIAN =
	/^(?:što|tko|gdje|uvijek|prije|poslije|nakon|tjed.{1,3}|vrijed?.*|.*mjese.*|dvije|ovdje|.*ije.*|glede|tvrtk.*|računal.*)$/u;
const SERBIAN = /^(?:šta|ko|gde|uvek|pre|posle|nedelj.{1,3}|vred.*|vreme|.*mesec.*|dve|ovde|lepo|hleb|firm.*)$/u;

/** The language of words that are Croatian or Serbian in Latin script. */
export function croatianOrSerbian(words: Iterable<string>): 'hr' | 'sr' {
	let serbian = 0;
	for (const word of words) serbian += (SERBIAN.test(word) ? 1 : 0) - (CROATIAN.test(word) ? 1 : 0);
	return serbian > 0 ? 'sr' : 'hr';
}

/** The evidence in the letters of words in Latin script. */
export interface LetterEvidence {
	/** Points for languages that have all letters of a word, one for each word, split among them. */
	points: Map<string, number>;
	/** A factor for each language that lacks letters of some words, below 1. */
	factors: Map<string, number>;
}

/** The evidence in words with letters besides a to z. @param words different ones, in lower case */
export function letterEvidence(words: Iterable<string>): LetterEvidence {
	const evidence: LetterEvidence = { points: new Map(), factors: new Map() };
	for (const word of words) {
		const letters = [...word].filter((letter) => letter > '\u007f');
		if (letters.length === 0 || !/^\p{Script=Latin}+$/u.test(word)) continue;
		const having = [...LETTER_SETS]
			.filter(([, set]) => letters.every((letter) => set.has(letter)))
			.map(([language]) => language);
		if (having.length === 0) continue;
		for (const language of having)
			evidence.points.set(language, (evidence.points.get(language) ?? 0) + 1 / having.length);
		for (const language of LETTER_SETS.keys()) {
			if (having.includes(language)) continue;
			evidence.factors.set(language, (evidence.factors.get(language) ?? 1) * FOREIGN_LETTER_FACTOR);
		}
	}
	return evidence;
}
