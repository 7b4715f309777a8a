/** Returns the URL without slashes at its end. @throws {TypeError} for a missing or malformed one. */
export const checkBaseUrl = (baseUrl: unknown): string => {
  const advice = 'Set it to the URL of the API with its version, such as https://forms.example.com/v2.'
  if (typeof baseUrl !== 'string' || baseUrl === '') throw new TypeError(`baseUrl is missing. ${advice}`)
  const url = parsedUrl(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new TypeError(`baseUrl is not the URL of an API: ${JSON.stringify(baseUrl)}. ${advice}`)
  }
  return baseUrl.replace(/\/+$/, '')
}

/** @throws {TypeError} for a missing or malformed key. The message does not contain it. */
export const checkApiKey = (apiKey: unknown): void => {
  const advice = 'Set it to a key that begins with fms_; formctl key create creates one.'
  if (typeof apiKey !== 'string' || apiKey === '') throw new TypeError(`apiKey is missing. ${advice}`)
  if (!/^fms_[\w-]+$/.test(apiKey)) throw new TypeError(`apiKey is not an API key. ${advice}`)
}

/** The page in which a browser runs this code. */
const page = () => (globalThis as { location?: { href: string; origin: string } }).location

/** The origin of the page, if it is another than that of the URL. */
export const foreignPageOrigin = (url: string): string | undefined => {
  const origin = page()?.origin
  return parsedUrl(url)?.origin === origin ? undefined : origin
}

const parsedUrl = (text: string): URL | undefined => {
  try {
    return new URL(text, page()?.href)
  } catch {
    return undefined
  }
}
