/** Words that name columns. A first row of them is a header, even where nothing else tells it from the rows below. */
const WORDS = new Set(
	[
		'name title item product article part code number no id type kind category description details note notes remark comment',
		'department role position job function profession company city town country region area zone location place address branch',
		'phone telephone mobile email e-mail mail contact person responsible owner website link',
		'day date time hours opening month year period duration deadline price fee cost charge rate amount total tax discount',
		'plan feature service course event topic subject level age language size colour color material weight capacity model version',
		'unit quantity limit value default key field option setting parameter format example question answer term meaning definition',
		'error cause reason problem symptom remedy solution action fix status condition requirement included availability',
		'bezeichnung artikel produkt titel teil nummer nr typ art kategorie beschreibung hinweis hinweise bemerkung bemerkungen',
		'vorname nachname abteilung rolle funktion beruf firma stadt ort land region gebiet standort adresse anschrift filiale',
		'telefon telefonnummer mobil kontakt ansprechpartner ansprechpartnerin zuständig webseite tag wochentag datum zeit uhrzeit',
		'öffnungszeiten monat jahr zeitraum dauer frist preis gebühr kosten betrag rabatt tarif leistung kurs thema stufe alter sprache',
		'größe farbe material gewicht modell einheit menge wert feld einstellung beispiel frage antwort begriff bedeutung',
		'fehler ursache grund lösung abhilfe maßnahme status bedingung voraussetzung',
		'nom prénom produit désignation référence numéro catégorie remarque service fonction rôle métier poste entreprise ville pays',
		'région lieu adresse agence téléphone courriel contact responsable jour date heure heures horaires mois année période durée délai',
		'prix tarif frais coût montant remise formule cours sujet niveau âge langue taille couleur matière poids modèle unité quantité',
		'valeur exemple question réponse terme signification définition erreur cause problème solution remède état condition',
		'nombre producto artículo descripción departamento cargo ciudad país dirección teléfono correo día fecha hora horario mes año precio',
		'coste tarifa color tamaño idioma nivel edad pregunta respuesta causa solución estado código tipo',
		'naam omschrijving afdeling functie stad land adres telefoon dag datum tijd maand jaar prijs kosten kleur maat taal niveau vraag',
		'antwoord oorzaak oplossing status soort',
		'nome produto descrição departamento cidade país endereço telefone dia data hora mês ano preço custo cor tamanho idioma nível',
		'pergunta resposta causa solução estado código',
		'prodotto descrizione reparto ruolo città paese indirizzo telefono giorno data ora mese anno prezzo costo colore taglia lingua',
		'livello domanda risposta causa soluzione stato codice',
		'品名 商品名 名前 氏名 部署 役職 住所 電話 電話番号 曜日 日付 時間 料金 価格 種類 内容 説明 備考 原因 対処 質問 回答 コード',
		'الاسم القسم المدينة العنوان الهاتف اليوم التاريخ الوقت السعر الوصف النوع السبب الحل السؤال الجواب الرمز',
	].flatMap((line) => line.split(' ')),
);

/** A column of a comparison, as in `Model | HB170 | HB180`. */
const CODE = /^\p{L}{1,4}-?\p{Nd}{1,4}\p{L}?$/u;

/**
 * Whether at least half of the cells, the first one included, have a word that names columns or are a code. Any other cell with a
 * digit is data.
 */
export function areColumnNames(cells: readonly string[]): boolean {
	if (cells.some((cell) => /\p{Nd}/u.test(cell) && !CODE.test(cell))) return false;
	const isNamed = cells.map((cell) => CODE.test(cell) || hasColumnWord(cell));
	return hasColumnWord(cells[0] ?? '') && isNamed.filter(Boolean).length * 2 >= cells.length;
}

function hasColumnWord(cell: string): boolean {
	return cell
		.toLowerCase()
		.split(/[^\p{L}\p{N}-]+/u)
		.some((word) => WORDS.has(word));
}
