/** Names of sheets that programs give, in some languages. They say nothing about a single sheet. */
export const DEFAULT_SHEET_NAME = /^(?:sheet|tabelle|feuil|feuille|hoja|foglio|blad|planilha|ark|лист)\s*\d*$/iu;
