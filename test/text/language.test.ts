import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectLanguage } from '../../src/text/index.ts';

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

test('takes no longer for a text of megabytes than for a page', () => {
	const started = performance.now();
	assert.equal(detectLanguage('The products can be returned to us within a month. '.repeat(100_000)), 'en');
	assert.ok(performance.now() - started < 1000);
});

test('the bars of a table do not change its language', () => {
	const rows = [
		'Part no. | Name | Price | Availability',
		'WT-16 | Water tank | 48.00 | in stock',
		'DG-02 | Drip grid | 21.40 | discontinued',
	];
	assert.equal(detectLanguage(rows.join('\n')), detectLanguage(rows.join('\n').replaceAll('|', ',')));
});
