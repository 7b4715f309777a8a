import CliTable from 'cli-table3'

export interface Table {
  columns: string[]
  rows: string[][]
  /** Number of leading columns that hold text. The others hold numbers. */
  textColumns: number
}

export const toText = ({ columns, rows, textColumns }: Table): string => {
  const table = new CliTable({
    head: columns,
    colAligns: columns.map((_, index) => (index < textColumns ? 'left' : 'right')),
    style: { head: [], border: [], compact: true },
  })
  table.push(...rows)
  return table.toString()
}

export const toMarkdown = ({ columns, rows, textColumns }: Table): string => {
  const lines = columns.map((_, index) => (index < textColumns ? '---' : '---:'))
  return [columns, lines, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Formats a number with three significant digits and no exponent. */
export const figure = (value: number | undefined): string => {
  if (value === undefined) return '–'
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
