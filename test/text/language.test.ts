import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectLanguage } from '../../src/text/index.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';

const SAMPLES: Record<string, string> = {
	en: 'Products can be returned within thirty days of purchase, as long as they have not been used.',
	de: 'Die Lieferung dauert zwei bis drei Werktage, und wir verschicken nur innerhalb von Deutschland.',
	fr: 'Nous livrons dans toute la France en deux jours, et les retours sont gratuits pour vous.',
	es: 'Los pedidos se entregan en tres días y las devoluciones son gratuitas para todos los clientes.',
	it: 'I prodotti possono essere restituiti entro trenta giorni dalla data di acquisto.',
	nl: 'Retouren kunnen binnen dertig dagen worden teruggestuurd naar ons magazijn.',
	pt: 'Os produtos podem ser devolvidos em até trinta dias, desde que não tenham sido usados.',
	pl: 'Produkty można zwrócić w ciągu trzydziestu dni od zakupu, jeśli nie były używane.',
	sv: 'Varor kan returneras inom trettio dagar efter köpet om de inte har använts.',
	ru: 'Товары можно вернуть в течение тридцати дней после покупки.',
	tr: 'Ürünler satın alındıktan sonra otuz gün içinde iade edilebilir.',
	ar: 'يمكن إرجاع المنتجات خلال ثلاثين يومًا من الشراء.',
	ja: '商品は購入後三十日以内に返品できます。',
	zh: '商品可以在购买后三十天内退货。',
	ko: '제품은 구매 후 삼십 일 이내에 반품할 수 있습니다.',
	th: 'สินค้าสามารถคืนได้ภายในสามสิบวันหลังจากซื้อ',
	el: 'Τα προϊόντα μπορούν να επιστραφούν εντός τριάντα ημερών.',
};

for (const [language, text] of Object.entries(SAMPLES)) {
	test(`detects a sentence in ${language}`, () => assert.equal(detectLanguage(text), language));
}

test('detects the language of a short title in Cyrillic letters without a function word', () => {
	assert.equal(detectLanguage('Правила возврата товара'), 'ru');
});

test('returns null for texts that are too short or have no words', () => {
	for (const text of ['', 'refund', '12345 67890', '😀😀😀', '\u0000']) assert.equal(detectLanguage(text), null);
});

test('detects English, not a related language, in a title without accents or function words', () => {
	assert.equal(detectLanguage("Secant Modification of Newton's Method"), 'en');
	assert.equal(detectLanguage('Kundenservice und Kontakt'), 'de');
});

test('takes no more processor time for a text of megabytes than for a page', async () => {
	const text = 'The products can be returned to us within a month. '.repeat(100_000);
	const spent = await cpuMilliseconds(() => assert.equal(detectLanguage(text), 'en'));
	assert.ok(spent < 1000, `${spent} ms`);
});

test('the bars of a table do not change its language', () => {
	const rows = [
		'Part no. | Name | Price | Availability',
		'WT-16 | Water tank | 48.00 | in stock',
		'DG-02 | Drip grid | 21.40 | discontinued',
	];
	assert.equal(detectLanguage(rows.join('\n')), detectLanguage(rows.join('\n').replaceAll('|', ',')));
});

/** Questions and sentences as they stand in short documents. */
const SHORT: Record<string, string[]> = {
	da: [
		'Hvad koster forsendelse til Norge?',
		'Du kan returnere varer inden for 14 dage.',
		'Butikken er lukket på helligdage.',
	],
	no: ['Hva koster frakt til Sverige?', 'Du kan returnere varer innen 14 dager.', 'Hvordan avkalker jeg vannkokeren?'],
	sv: ['Vad kostar frakt till Norge?', 'Du kan returnera varor inom 14 dagar.'],
	cs: ['Kolik stojí doprava na Slovensko?', 'Zboží můžete vrátit do 14 dnů.', 'Napište nám, pokud máte otázky.'],
	sk: ['Koľko stojí doprava do Česka?', 'Tovar môžete vrátiť do 14 dní.', 'Čo mám robiť, keď kanvica nehreje?'],
	lv: ['Cik maksā piegāde uz Igauniju?', 'Preces var atgriezt 14 dienu laikā.', 'Veikals svētku dienās ir slēgts.'],
	lt: ['Kiek kainuoja pristatymas į Latviją?', 'Prekes galite grąžinti per 14 dienų.'],
	hr: [
		'Što trebam učiniti ako kuhalo ne grije?',
		'Robu možete vratiti u roku od 14 dana.',
		'Pišite nam ako imate pitanja.',
	],
	et: ['Kui palju maksab saatmine Lätti?', 'Kaupa saab tagastada 14 päeva jooksul.'],
	pl: ['Ile kosztuje wysyłka do Czech?', 'Towar można zwrócić w ciągu 14 dni.'],
	de: ['Wie entkalke ich den Wasserkocher?', 'Das Geschäft ist an Feiertagen geschlossen.'],
	pt: ['Como descalcifico a chaleira?', 'Pode devolver os artigos em 14 dias.'],
};

test('detects the language of short sentences, among them those of related languages', () => {
	const wrong = Object.entries(SHORT).flatMap(([language, texts]) =>
		texts.flatMap((text) => (detectLanguage(text) === language ? [] : [`${detectLanguage(text)}: ${text}`])),
	);
	assert.deepEqual(wrong, []);
});
