import { useState } from 'preact/hooks';
import { CodeBlock } from '../../components/code-block.tsx';
import { SelectField } from '../../components/field.tsx';
import { fill, strings } from '../../languages/index.ts';
import { CODE_LANGUAGES, type CodeLanguage, tokenCode } from './token-code.ts';
import type { TokenFields } from './token-fields.ts';

const NAMES: { [L in CodeLanguage]: string } = { node: 'Node.js', python: 'Python', php: 'PHP' };
const PAGE_CODE = `const identify = (chat) => {
	const sendToken = async () => chat.identify(await (await fetch('/chat-token')).text());
	chat.on('unauthorized', sendToken);
	void sendToken();
};
if (window.Parley?.widgets) identify(Parley);
else addEventListener('parley:loaded', (event) => identify(event.detail), { once: true });
`;

/** Code for the website: its server makes a token, its page passes it to the widget. */
export function TokenCode({ fields }: { fields: TokenFields }) {
	const t = strings().deploymentPages;
	const [chosen, setChosen] = useState<CodeLanguage>('node');
	const { algorithm, audience, issuer, keySource } = fields;
	if (algorithm === '') return null;
	const variable = algorithm === 'HS256' ? 'CHAT_SECRET' : 'CHAT_PRIVATE_KEY';
	const code = tokenCode(chosen, { algorithm, audience, issuer, hasKeySet: keySource === 'jwks_url' });
	return (
		<section class="card narrow" aria-label={t.tokenCode}>
			<h2>{t.tokenCode}</h2>
			<p class="soft">{fill(t.tokenCodeHint, { variable })}</p>
			<SelectField
				label={t.programmingLanguage}
				value={chosen}
				options={CODE_LANGUAGES.map((value) => ({ value, label: NAMES[value] }))}
				onChange={(name) => setChosen(name as CodeLanguage)}
			/>
			<CodeBlock text={code} label={fill(t.serverCode, { language: NAMES[chosen] })} />
			<p class="soft">{t.pageCodeHint}</p>
			<CodeBlock text={PAGE_CODE} label={t.pageCode} />
		</section>
	);
}
