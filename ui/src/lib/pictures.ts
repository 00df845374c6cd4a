/** Kinds of pictures that models are shown. */
const KINDS = ["image/png", "image/jpeg"];
/** Most bytes of one, as the core takes them. */
export const MOST_BYTES = 8 * 1024 * 1024;

/** Why a picture cannot be attached as it is; nothing for one that can. */
export function unfit(file: Pick<File, "type" | "size">): "kind" | "large" | null {
  if (!KINDS.includes(file.type)) return "kind";
  return file.size > MOST_BYTES ? "large" : null;
}

/** The bytes as calls carry them. */
export function base64(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error("the file cannot be read"));
    reader.readAsDataURL(file);
  });
}

/** What was pasted as a picture. Copied text often brings a picture of itself along, and stays text. */
export function pasted(data: DataTransfer | null): File[] {
  return data && !data.types.includes("text/plain") ? [...data.files] : [];
}
