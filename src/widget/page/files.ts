import type { ChatModule } from '../chat/chat-module.ts';
import type { Language } from '../languages/choose.ts';
import type { Strings } from '../languages/strings.ts';
import { memoiseUntilFailure } from './memoise-until-failure.ts';

/** The widget's files that are loaded when they are needed. */
export interface WidgetFiles {
	loadChat(): Promise<ChatModule>;
	/** The texts of the language, or the English ones where those cannot be loaded. */
	loadStrings(): Promise<Strings>;
	/** Loads both ahead of time. A file that cannot be loaded now is asked for again when it is needed. */
	preload(): void;
}

/**
 * @param base where the server is
 * @param setLanguage is called with the language of the texts
 */
export function createFiles(base: string, language: Language, setLanguage: (language: Language) => void): WidgetFiles {
	const load = (name: string) => {
		const url = `${base}widget/${name}-${VERSION}.js`;
		// Browsers may remember that a module could not be loaded, under its address: the second try has another one.
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
		preload: () => void Promise.all([loadChat(), loadStrings()]).catch(() => {}),
	};
}
