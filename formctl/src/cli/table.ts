import CliTable from 'cli-table3'

/** A list for people: column titles, and a row for each item. */
export interface Table {
  columns: string[]
  rows: (string | undefined)[][]
}

const gap = '  '
const noLines = Object.fromEntries(
  ['top', 'bottom', 'left', 'mid', 'right'].flatMap((side) =>
    ['', '-mid', '-left', '-right'].map((part) => [`${side}${part}`, '']),
  ),
)

/** Replaces control characters, which could control the terminal. */
export const withoutControlCharacters = (text: string) => text.replace(/\p{Cc}/gu, '\ufffd')

/** Renders aligned columns without borders and colours. */
export const renderTable = ({ columns, rows }: Table): string => {
  const table = new CliTable({
    head: columns.map((column) => column.toUpperCase()),
    chars: { ...noLines, middle: gap },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => row.map((cell) => withoutControlCharacters(cell ?? ''))))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** `2026-11-20 09:30` in UTC; empty for undefined. */
export const shortTime = (time?: Date): string => time?.toISOString().slice(0, 16).replace('T', ' ') ?? ''
