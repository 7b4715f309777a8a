/** Path of the route of organizations that exchanges login codes, for requests of the gateway on its own behalf. */
export const sessionsPath = '/internal/sessions'
