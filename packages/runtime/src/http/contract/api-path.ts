/** Every path of the API begins with this. */
export const apiPath = "/api/v1";
