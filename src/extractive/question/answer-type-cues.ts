import type { SpokenLanguage } from '../spoken-language.ts';

/** What a question expects its answer to contain. */
export type AnswerType =
	| 'steps'
	| 'time'
	| 'duration'
	| 'age'
	| 'price'
	| 'number'
	| 'phone'
	| 'email'
	| 'person'
	| 'place';

/** How a language asks for a type: the pattern of the question, in lower case, and the words that a value of the type answers. */
export interface TypeCue {
	asks: RegExp;
	words: string;
}

/** The words of `words` are compared as stems. A value of the type stands for them, so it need not contain them. */
export const CUES: Record<SpokenLanguage, Partial<Record<AnswerType, TypeCue>>> = {
	en: {
		steps: {
			asks: /\bhow (to|(do|does|can|could|should|would|may|must) (i|we|you|one|people|someone))\b(?! (have|need) to (pay|wait))|\bsteps?\b|\bprocedure\b|\bwhat (do|should|must|am) (i|we) (do|have to do|need to do|supposed to do)\b/,
			words: 'steps step procedure way do',
		},
		time: {
			asks: /\bwhen\b|\b(what|which) (time|day|date|year|month)\b|\bdeadline|\bhow late\b|\b(opening )?hours\b(?! (do|can|may|must|a))|\b(until|till|by|from|since) (when|what)\b|\bopen(s|ed)? (on|at)\b|\bclosed?\b|\blatest (moment|time|date)\b/,
			words:
				'when time day date year month hours hour opening open opens close closes closed until till late latest deadline come take place moment',
		},
		duration: {
			asks: /\bhow (long(?! (must|should|can|may)\b.*\bbe\b)|soon|quickly|fast|often)\b|\bhow (many|much) (minutes|hours|days|weeks|months|years|time|warning|notice)\b/,
			words: 'long soon quickly fast often minutes hours days weeks months years time take last',
		},
		age: { asks: /\bhow old\b|\b(what|which|minimum|from what) age\b|\byears old\b/, words: 'old age aged years' },
		price: {
			asks: /\bhow much(?= (is|are|was|does|do|did|would|will|for|to|extra|must|money)\b|\?|$| (i|we|you)\b)|\b(cost|costs|price|prices|priced|fee|fees|charge|charges|salary|rate|rates|tariff|fare|expensive|cheap|cheaper)\b|\bwhat (do|would|will|must|should) (i|we) (have to )?pay\b/,
			words: 'cost costs price prices priced fee fees charge charges charged pay expensive cheap cheaper money salary',
		},
		number: {
			asks: /\bhow (many|much|high|large|big|far|wide|heavy|deep|tall|thick|warm|hot|loud|long)\b|\b(number|amount)\b(?! of the)|\b(size|limit|maximum|minimum|diameter|weight|height|width|length|depth|capacity|speed|temperature|voltage|power)\b/,
			words: 'many much number amount',
		},
		phone: {
			asks: /\b(phone|telephone|tel|mobile|fax)\b|\b(what|which|your|the) number\b(?! of (people|users|guests|days))|^number (of|for)\b|\b(can|do|should) i (call|ring|phone)\b/,
			words: 'phone telephone tel number call ring reach dial',
		},
		email: { asks: /\be-?mail\b|\bmail address|\bwrite to\b/, words: 'email mail e address adress write contact' },
		person: {
			asks: /\bwho(m|se)?\b(?! (is|are) (covered|allowed|eligible))|\bname of (the|your)\b|'s name\b/,
			words: 'who name person charge speak',
		},
		place: {
			asks: /\bwhere\b|\b(postal )?address\b|\bwhich (city|country|building|room|floor|street)\b|\b(street|located)\b/,
			words: 'where address adress street located location find',
		},
	},
	de: {
		steps: {
			asks: /\bwie (?!viele?|lang|oft|hoch|groß|alt|weit|teuer|spät|heißt|tief|warm|breit|schwer|ist|sind|wird|war|kalt|laut|schnell|heiß)|\bschritte?\b|\bwas (muss|soll|mache|tue) ich (tun|machen|jetzt)?/,
			words: 'wie schritt schritte mache tun machen gehe',
		},
		time: {
			asks: /\bwann\b|uhrzeit|\bfrist\b|\bwie spät\b|\bwelche[mnrs]? (tag|jahr|datum|monat)|öffnungszeit|\b(offen|geöffnet|geschlossen|auf)\?|\b(hat|haben|ist|sind) .*\b(auf|offen|geöffnet|zu)\b/,
			words:
				'wann uhrzeit frist tag datum jahr öffnungszeiten offen geöffnet geschlossen auf zu öffnet schließt stattfindet',
		},
		duration: {
			asks: /\bwie ?(lange?|oft|schnell)\b|\bwie viele (minuten|stunden|tage|wochen|monate|jahre)\b/,
			words: 'lange lang oft schnell minuten stunden tage wochen monate jahre dauert dauer',
		},
		age: {
			asks: /\bwie alt\b|\balter\b|mindestalter|\bwie ?vielen? jahre/,
			words: 'alt alter jahre jahren mindestalter',
		},
		price: {
			asks: /kosten?\b|kostet|\bpreise?s?\b|\bpreis\b|gebühr|\bteuer|\bbillig|\bwie viel (zahl|muss|bezahl|euro|geld)|\bwas (zahl|bezahl)|\btarif/,
			words: 'kosten kostet preis preise gebühr gebühren teuer billig billiger zahlen zahlt bezahlen geld hoch tarif',
		},
		number: {
			asks: /\bwie ?(viele?[rnms]?|hoch|groß|lang|weit|tief|warm|kalt|breit|schwer|heiß)\b|\b(anzahl|zahl der|größe|durchmesser|gewicht|höhe|breite|länge|tiefe|temperatur|leistung)\b/,
			words: 'viel viele vielen anzahl hoch',
		},
		phone: {
			asks: /telefon|\brufnummer|\bnummer (von|vom|der|des)|\b(anrufen|rufe?) (ich )?an\b|\bruf ich|\bhandynummer|\bfaxnummer/,
			words: 'telefon telefonnummer nummer rufnummer anrufen rufe ruf an erreichen erreichbar',
		},
		email: { asks: /e-?mail|\bmail/, words: 'email mail e mailadresse adresse schreibe schreiben' },
		person: { asks: /\bwe(r|n|m|ssen)\b|\bname (des|der)\b|\bansprechpartner/, words: 'wer wen wem name heißt' },
		place: {
			asks: /\bwo(hin|her)?\b|adresse|anschrift|\bstraße\b/,
			words: 'wo wohin adresse anschrift straße finde liegt',
		},
	},
	fr: {
		steps: {
			asks: /\bcomment (?!s'appel)|étapes?\b|procédure|\bque (dois-je|faut-il) faire|\bque faire\b/,
			words: 'comment étape étapes procédure faire fait faut',
		},
		time: {
			asks: /\bquand\b|quelle heure|quel(le)? (jour|date|année|mois)|horaires?\b|délai|\bouvert|\bouvre|\bferm(e|é|és|ée)\b/,
			words: 'quand heure heures jour date horaires horaire ouvert ouverte ouvre ferme fermé fermée année',
		},
		duration: {
			asks: /combien de (temps|jours|semaines|mois|minutes|heures)|\bcombien de fois|durée/,
			words: 'temps jours semaines mois minutes heures durée dure fois',
		},
		age: { asks: /\bquel âge\b/, words: 'âge ans mois' },
		price: {
			asks: /\bco[uû]te?(nt|r)?\b|\bprix\b|tarif|\bcombien (pour|ça|cela|est|dois|faut)|c'est combien|montant|\bcher|\bde combien est/,
			words: 'coût coûte coûtent coûter prix tarif tarifs montant cher chère chères payer combien',
		},
		number: {
			asks: /\bcombien\b|\bnombre\b|\bquelle (taille|ration|dose|quantité|proportion)|\b(poids|hauteur|largeur|longueur|profondeur|diamètre|température|puissance)\b/,
			words: 'combien nombre quantité',
		},
		phone: {
			asks: /téléphone|\bnuméro\b|\bappeler\b|\bjoindre\b/,
			words: 'téléphone numéro appeler joindre tél',
		},
		email: {
			asks: /e-?mail|\bmail\b|\bcourriel|\badresse (mail|électronique)|j'écris/,
			words: 'email mail e courriel adresse écris écrire',
		},
		person: { asks: /\bqui\b|\bnom (du|de la)\b|s'appelle/, words: 'qui nom appelle' },
		place: { asks: /(^|\s)où\b|adresse|\bquelle rue/, words: 'où adresse rue trouve située situé' },
	},
	es: {
		steps: { asks: /\bc[óo]mo\b|\bpasos?\b|procedimiento/, words: 'cómo paso pasos hacer' },
		time: {
			asks: /\bcu[áa]ndo\b|qu[ée] hora|qu[ée] (d[íi]a|fecha)|horarios?\b|plazo|\babiert|\babre|\bcierr/,
			words: 'cuándo hora día fecha horario horarios abierto abre cierra plazo',
		},
		duration: {
			asks: /cu[áa]nto (tiempo|dura|tarda)|cu[áa]nt[oa]s (d[íi]as|horas|semanas|meses|minutos)/,
			words: 'tiempo dura tarda días horas semanas meses',
		},
		price: {
			asks: /cuesta|precio|\bcoste?\b|tarifa|importe|\bcu[áa]nto (es|vale|hay que pagar)/,
			words: 'cuesta precio coste costo tarifa importe vale pagar',
		},
		number: { asks: /\bcu[áa]nt[oa]s?\b/, words: 'cuánto cuántos cuánta cuántas número' },
		phone: { asks: /tel[ée]fono|\bn[úu]mero de|\bllam(ar|o)\b/, words: 'teléfono número llamar' },
		email: { asks: /e-?mail|\bcorreo/, words: 'email correo electrónico escribir' },
		person: { asks: /\bqui[ée]n(es)?\b/, words: 'quién nombre' },
		place: { asks: /\b(a)?d[óo]nde\b|direcci[óo]n/, words: 'dónde dirección calle' },
	},
	nl: {
		steps: {
			asks: /\bhoe (?!veel|lang|vaak|hoog|groot|oud|ver|duur|laat|zwaar|diep|breed)|stappen\b/,
			words: 'hoe stappen',
		},
		time: {
			asks: /\bwanneer\b|\bhoe laat\b|\bwelke (dag|datum)|openingstijden|deadline|\bopen\b|\bgesloten\b/,
			words: 'wanneer laat dag datum openingstijden open gesloten',
		},
		duration: {
			asks: /\bhoe (lang|vaak|snel)\b|\bhoeveel (dagen|uren|weken|maanden)/,
			words: 'lang vaak snel dagen uren weken maanden duurt',
		},
		price: { asks: /\bkost(en)?\b|prijs|tarief|\bhoe duur\b/, words: 'kost kosten prijs tarief duur betalen' },
		number: { asks: /\bhoeveel\b|\bhoe (veel|hoog|groot|oud|ver|zwaar|diep|breed)\b/, words: 'hoeveel aantal' },
		phone: { asks: /telefoon|\bnummer van|\bbellen\b/, words: 'telefoon telefoonnummer nummer bellen' },
		email: { asks: /e-?mail|\bmailadres/, words: 'email mail e mailadres' },
		person: { asks: /\bwie\b/, words: 'wie naam' },
		place: { asks: /\bwaar(heen)?\b|adres/, words: 'waar adres straat' },
	},
	pt: {
		steps: { asks: /\bcomo\b|\bpassos?\b|procedimento/, words: 'como passos fazer' },
		time: {
			asks: /\bquando\b|que horas|que (dia|data)|hor[áa]rios?\b|prazo|\babert|\babre|\bfecha/,
			words: 'quando hora horas dia data horário aberto abre fecha prazo',
		},
		duration: { asks: /quanto tempo|quant[oa]s (dias|horas|semanas|meses)/, words: 'tempo dias horas semanas meses' },
		price: { asks: /custa|pre[çc]o|custo|tarifa|valor|\bquanto [ée]\b/, words: 'custa preço custo tarifa valor pagar' },
		number: { asks: /\bquant[oa]s?\b/, words: 'quanto quantos quanta quantas número' },
		phone: { asks: /telefone|\bn[úu]mero d|\bligar\b/, words: 'telefone número ligar' },
		email: { asks: /e-?mail|\bcorreio/, words: 'email correio' },
		person: { asks: /\bquem\b/, words: 'quem nome' },
		place: { asks: /\b(a)?onde\b|endereço|morada/, words: 'onde endereço morada rua' },
	},
	it: {
		steps: { asks: /\bcome\b|\bpassaggi\b|procedura/, words: 'come passaggi fare' },
		time: {
			asks: /\bquando\b|che ora|(che|quale) (giorno|data)|orari\b|scadenza|\bapert|\bapre|\bchiu/,
			words: 'quando ora giorno data orari aperto apre chiude chiuso scadenza',
		},
		duration: {
			asks: /quanto tempo|quant[ei] (giorni|ore|settimane|mesi)/,
			words: 'tempo giorni ore settimane mesi dura',
		},
		price: {
			asks: /costa\b|costano|prezzo|costo|tariffa|importo|\bquanto (viene|è)\b/,
			words: 'costa costano prezzo costo tariffa importo pagare',
		},
		number: { asks: /\bquant[oiae]\b/, words: 'quanto quanti quanta quante numero' },
		phone: { asks: /telefono|\bnumero d|\bchiamare\b/, words: 'telefono numero chiamare' },
		email: { asks: /e-?mail|\bposta elettronica/, words: 'email posta' },
		person: { asks: /\bchi\b/, words: 'chi nome' },
		place: { asks: /\bdov['e]|indirizzo/, words: 'dove indirizzo via' },
	},
	ja: {
		steps: { asks: /どうやって|どうすれば|方法|手順|やり方|どのように/, words: '方法 手順' },
		time: { asks: /いつ|何時|何曜日|何日|期限|締め切り|営業時間/, words: 'いつ 何時 期限 営業 時間' },
		duration: { asks: /何時間|何[かヶカ]月|何日|何年|どのくらい/, words: '時間' },
		price: { asks: /いくら|料金|何円|値段/, words: 'いくら 料金 値段' },
		number: { asks: /何[日人円個回年歳名台件]|いくつ|どれくらい/, words: '何' },
		phone: { asks: /電話/, words: '電話 番号' },
		email: { asks: /メール/, words: 'メール' },
		person: { asks: /誰|だれ|どなた/, words: '誰' },
		place: { asks: /どこ|どちら|住所|場所/, words: 'どこ 住所 場所' },
	},
	ar: {
		steps: { asks: /كيف|خطوات|طريقة/, words: 'كيف خطوات طريقة' },
		time: { asks: /متى|أي ساعة|موعد|مواعيد/, words: 'متى ساعة موعد مواعيد' },
		duration: { asks: /كم من الوقت|كم يوم/, words: 'وقت' },
		price: { asks: /تكلفة|سعر|رسوم/, words: 'تكلفة سعر رسوم' },
		number: { asks: /(^|\s)كم(\s|$)/, words: 'كم عدد' },
		phone: { asks: /هاتف/, words: 'هاتف رقم' },
		email: { asks: /بريد/, words: 'بريد' },
		person: { asks: /^\s*من\s/, words: 'من' },
		place: { asks: /(^|\s)(أين|عنوان)/, words: 'أين عنوان' },
	},
};
