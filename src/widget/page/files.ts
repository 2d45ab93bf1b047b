import type { ChatModule, LoadPart } from '../chat/chat-module.ts';
import type { Language } from '../languages/choose.ts';
import type { Strings } from '../languages/strings.ts';
import { memoiseUntilFailure } from './memoise-until-failure.ts';

/** The widget's files that are loaded on demand. */
export interface WidgetFiles {
	loadChat(): Promise<ChatModule>;
	/** The strings of the language, or the English ones if those cannot be loaded. */
	loadStrings(): Promise<Strings>;
	loadPart: LoadPart;
	/** Loads the chat and the strings in advance. A file that fails now is requested again when it is needed. */
	preload(): void;
}

/**
 * @param base address of the server
 * @param setLanguage is called with the language of the loaded strings
 */
export function createFiles(base: string, language: Language, setLanguage: (language: Language) => void): WidgetFiles {
	const load = (name: string) => {
		const url = `${base}widget/${name}-${VERSION}.js`;
		// Browsers may cache a failed module import by its address, so the second attempt uses another address.
		return import(/* @vite-ignore */ url).catch(() => import(/* @vite-ignore */ `${url}?${Date.now()}`));
	};
	const loadChat = memoiseUntilFailure((): Promise<ChatModule> => load('chat'));
	const loadStrings = memoiseUntilFailure(async (): Promise<Strings> => {
		setLanguage(language);
		const file = await load(language).catch(() => {
			setLanguage('en');
			return load('en');
		});
		return file.strings;
	});
	return {
		loadChat,
		loadStrings,
		loadPart: load,
		preload: () => void Promise.all([loadChat(), loadStrings()]).catch(() => {}),
	};
}
