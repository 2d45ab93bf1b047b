import { isIP } from 'node:net';

/** Whether a text is the address of a website without a path: `https://chat.example.com`, a port where there is one. */
export function isOrigin(text: string): boolean {
	if (!URL.canParse(text)) return false;
	const { protocol, href, origin } = new URL(text);
	return (protocol === 'http:' || protocol === 'https:') && href === `${origin}/` && !/[\s\\?#]/.test(text);
}

/** Whether a text is an IP address or a CIDR range. */
export function isNetwork(text: string): boolean {
	const [, address = '', bits = '0'] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
	return isIP(address) > 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}
