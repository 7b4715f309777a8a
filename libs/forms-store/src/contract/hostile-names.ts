/** Names with a special meaning in some engine, and pairs that differ only in letter case or by a case folding rule. */
export const hostileNames = [
  'Intake',
  'intake',
  'INTAKE',
  ' Intake',
  'Intake ',
  "O'Brien",
  '"quoted"',
  "'; DROP TABLE forms; --",
  '100%',
  '100',
  'a_b',
  'a%b',
  'ab',
  'a*b',
  'a?b',
  'a[b]c',
  'a.b',
  'a.*b',
  '^a$',
  '(a|b)+',
  'a\\b',
  'a\\\\b',
  '\\*',
  '*',
  '$ne',
  '{"$gt":""}',
  'null',
  'NULL',
  '0',
  '00',
  '10',
  '9',
  '1e1',
  '\0',
  'a\0b',
  'a\0c',
  'a',
  'a\n',
  'a\tb',
  'é',
  'e\u0301',
  'Straße',
  'STRASSE',
  'STRAẞE',
  'ΣΊΣΥΦΟΣ',
  'Σίσυφος',
  'ςσΣ',
  'İstanbul',
  'i\u0307stanbul',
  'Istanbul',
  'ıstanbul',
  'ſtop',
  'Stop',
  '\u212Aelvin',
  'kelvin',
  'ÅNGSTRÖM',
  '\u212Bngström',
  'ŉ',
  'ﬃ',
  'ᾳ',
  'ᾼ',
  '😀',
  '😀😁',
  '👩‍👩‍👧',
  '\u{10400}', // Deseret, upper case
  '\u{10428}', // and lower case
  '\uD7FF',
  '\uE000',
  '\uFEFFname',
  '\uFFFD',
  '\uFFFF',
  '\u{10000}',
  '\u{10FFFF}',
  '\u{10FFFF}\u{10FFFF}',
]

/** Known deviations of an engine for tests. The suite skips the cases that they affect. */
export interface EngineLimits {
  /** Compares texts by UTF-16 code unit: code points above U+FFFF sort before U+E000 to U+FFFF. */
  comparesUtf16?: boolean
  /** Properties have fewer cases, unless FC_RUNS sets their number. */
  slow?: boolean
}

/** The texts that such an engine sorts correctly. */
export const comparable = (texts: readonly string[], { comparesUtf16 }: EngineLimits): string[] =>
  texts.filter((text) => !comparesUtf16 || !/[\uE000-\uFFFF]/u.test(text))
